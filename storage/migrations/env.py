"""How Alembic runs our migrations: on the connection and in the transaction of storage/upgrade.py."""

from alembic import context

from storage.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite alters a table by building it anew
    compare_type=True,
    transactional_ddl=True,
)
context.run_migrations()
