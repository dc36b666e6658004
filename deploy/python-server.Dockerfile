# The server of the built-in Python builds, with the probe beside it. Build context: the project's folder.
ARG PYTHON_IMAGE=python:3.12.11-slim-bookworm

FROM ${PYTHON_IMAGE} AS environment
ARG MCP_VERSION
WORKDIR /build
COPY servers/python/locks/mcp-${MCP_VERSION}.txt requirements.txt
RUN python -m venv --without-pip /opt/venv \
  && python -m pip --python /opt/venv/bin/python install --no-cache-dir --disable-pip-version-check --no-deps --require-hashes --requirement requirements.txt

FROM ${PYTHON_IMAGE}
# A new named volume takes owner and mode from here. The probe refuses a directory that others own or can write to;
# set-group-id and readable by 10002, the group of exporter and load, it opens its socket to that group as well.
RUN groupadd --gid 10001 mcp \
  && useradd --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin mcp \
  && install --directory --owner=10001 --group=10002 --mode=2750 /run/mcp-retention/probe
COPY --from=environment /opt/venv /opt/venv
COPY servers/python/server.py servers/python/serving.py servers/python/processes.py servers/python/healthz.py /opt/mcp-retention/server/
COPY probes/python/sitecustomize.py /opt/mcp-retention/probe/
COPY probes/python/mcp_retention_probe /opt/mcp-retention/probe/mcp_retention_probe
ENV PYTHONPATH=/opt/mcp-retention/probe \
  PYTHONDONTWRITEBYTECODE=1 \
  PYTHONUNBUFFERED=1 \
  MCP_RETENTION_PROBE_DIR=/run/mcp-retention/probe
USER 10001:10001
EXPOSE 8000
ENTRYPOINT ["/opt/venv/bin/python", "/opt/mcp-retention/server/server.py"]
