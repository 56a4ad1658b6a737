"""Arrays: a user's columns checked, the libraries that compute on them, and labels as whole numbers."""
