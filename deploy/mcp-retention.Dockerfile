# The mcp-retention program: exporter and load. Build context: the project's folder.
ARG NODE_IMAGE=node:22.19.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY exporters exporters
COPY dashboards dashboards
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
# Not the servers' user: their probes' volumes are readable by this group. No directory is made here for them to be
# mounted at: an empty volume would take owner and mode from it, in place of those that the servers' image gives.
RUN groupadd --gid 10002 mcp-retention \
  && useradd --uid 10002 --gid 10002 --no-create-home --shell /usr/sbin/nologin mcp-retention
WORKDIR /opt/mcp-retention
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY probes/python/sitecustomize.py probes/python/README.md probes/python/
COPY probes/python/mcp_retention_probe probes/python/mcp_retention_probe
ENV NODE_ENV=production
USER 10002:10002
EXPOSE 19640 19641
ENTRYPOINT ["node", "/opt/mcp-retention/dist/src/cli/main.js"]
