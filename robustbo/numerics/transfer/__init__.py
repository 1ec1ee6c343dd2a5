"""Values of other sources (old studies, simulators, other labs), whose error may be a function of the inputs."""
