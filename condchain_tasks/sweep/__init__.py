"""A grid of models, tasks and settings, as files that a shell, SLURM and lmms-eval run, and what became of them."""
