"""A generator for every loop that speaks gest-api: Xopt, optimas, libEnsemble."""
