# The stock k6 with the load scripts in it, for the k6 operator: a ConfigMap holds no folders, and the scripts import
# from src. Build context: the project's folder.
ARG K6_IMAGE=grafana/k6:2.2.0

FROM ${K6_IMAGE}
COPY loadtests /scripts/loadtests
COPY src/cases /scripts/src/cases
COPY src/protocol /scripts/src/protocol
COPY src/metrics /scripts/src/metrics
COPY src/ledger/policy.ts /scripts/src/ledger/policy.ts
WORKDIR /scripts
USER 12345:12345
