"""PyTorch's files, read without running what they hold: zip archives of today, and what torch.save() wrote before 1.6.

files.py imports a reader when it meets such a file. Read first: unpickle.py, the machine that takes a pickle as data;
names.py lists the calls that it allows."""
