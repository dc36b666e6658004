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
# The same user as the servers': a probe's socket is for its owner alone.
RUN groupadd --system --gid 10001 mcp \
  && useradd --system --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin mcp
WORKDIR /opt/mcp-retention
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY probes/python/sitecustomize.py probes/python/README.md probes/python/
COPY probes/python/mcp_retention_probe probes/python/mcp_retention_probe
ENV NODE_ENV=production
USER 10001:10001
EXPOSE 19640 19641
ENTRYPOINT ["node", "/opt/mcp-retention/dist/src/cli/main.js"]
