import numpy as np
from benchmark.candidates import PythonConstruction
from benchmark.artifact import Artifact
from benchmark.evaluator import Score
class T(PythonConstruction):
    def convert(self, returned): return Artifact(returned[0])
    def score(self, artifact, stage):
        t = float(np.sum(np.asarray(artifact.construction)[:,2]))
        return Score(t, t)
EVALUATOR = T
