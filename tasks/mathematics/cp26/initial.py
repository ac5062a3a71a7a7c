import numpy as np
def run_code():
    x = np.zeros((26,3)); x[:,:2] = 0.5
    return x, 0.0
