"""ONNX graphs, shared by plug-ins."""
