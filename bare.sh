export PIP_CONFIG_FILE=/dev/null; unset PIP_FIND_LINKS PIP_CONSTRAINT
python3 -m venv /tmp/threads/bare
P=/tmp/threads/bare/bin/pip
$P config list
PIP_EXTRA_INDEX_URL=file:///tmp/threads/idx timeout 100 $P install --dry-run torch -c /work/wt/threads/constraints.txt 2>&1 | tail -3
$P install -q uv 2>&1 | tail -1; /tmp/threads/bare/bin/uv --version; /tmp/threads/bare/bin/uv pip install --help | grep -A3 -i "torch-backend"
