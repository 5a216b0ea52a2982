"""The chain as Dagster assets: wiring only, no science. One thin module per stage; bodies launch DVC."""
