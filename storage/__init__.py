"""History: tables, migrations, ledger, queue."""
