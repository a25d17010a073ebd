"""Training with other libraries: processes from a notebook, scikit-learn's estimators, Optuna's trials on many ranks.

May import: autograd, comm, data, model. Read first: notebook.py.
"""
