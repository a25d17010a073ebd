"""Functions that make tensors, and questions about their types."""
