@rem kubectl, 1.26 or newer, runs this to complete `kubectl sigapps`. It belongs on the PATH, beside kubectl-sigapps.exe.
@rem Printed by: kubectl-sigapps completion kubectl
@kubectl-sigapps.exe __complete %*
