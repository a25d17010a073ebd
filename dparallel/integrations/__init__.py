"""Other libraries' ways of training: processes from a notebook, scikit-learn's estimators, Optuna's trials on many ranks.

May import: autograd, comm, data, model. Read first: notebook.py.
"""
