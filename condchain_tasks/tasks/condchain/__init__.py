"""MM-CondChain as lmms-eval tasks."""
