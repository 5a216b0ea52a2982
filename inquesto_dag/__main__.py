"""`python -m inquesto_dag`: the command line, as `dvc.yaml` calls it."""

from inquesto_dag.cli import main

if __name__ == "__main__":  # a spawned worker imports this module under another name
    main()
