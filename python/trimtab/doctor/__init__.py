"""What this machine allows to be observed, what each lack costs, and what to do about it.

Imports nothing: whoever starts a program asks for its quota, and what `diagnosis` needs would keep that program waiting, and
numpy's threads busy while it begins.
"""
