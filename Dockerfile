# Three images. The target `service` runs in production. `simulator` is the simulated chat network alone
# (simulator/README.md). `try` is all of it with Redis and a demo account (compose.try.yaml).
#
# The service alone: Node, the libraries it is linked with, and the compiled program. No Redis, no simulator, no shell,
# no package manager, no compiler. It refuses to start without REDIS_URL, ADMIN_TOKEN and CREDENTIALS_KEY. It writes
# only attachments, under /tmp while they are sent. So the root file system may be read-only with a tmpfs there. If it
# cannot write there, it refuses to start. bin/image builds it, also where no base image can be pulled.

# Any Debian 13 with Node 24 (or 22 or 26) and npm. If npm needs settings (a registry, certificates), this base has
# them. A tag gets the patches of the base with each build. A digest (node:24-trixie-slim@sha256:…) gets the same base
# each time.
ARG BUILD_BASE=node:24-trixie-slim

FROM ${BUILD_BASE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# No install scripts, for the reason bin/prepare gives.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY image/trim-packages image/gather-system image/cut-symbols.mjs image/server-package.mjs image/
# A platform, such as linux/arm64. bin/image passes it if it was asked for one.
ARG PLATFORM=
RUN image/trim-packages $PLATFORM && image/gather-system /system $PLATFORM

FROM ${BUILD_BASE} AS program
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY service service
COPY runtime runtime
COPY policy policy
COPY actors actors
COPY http http
COPY bin/copy-assets bin/
RUN npm run build

FROM program AS more-programs
COPY tsconfig.try.json ./
COPY simulator simulator
COPY client client
COPY examples examples
RUN node_modules/.bin/tsc -p tsconfig.try.json && npm run --prefix client prepack

# These two images are not for production. They contain a whole Debian, because they start its flock, sh and grep.
FROM ${BUILD_BASE} AS tools
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=more-programs /app/node_modules/node-forge node_modules/node-forge
COPY --from=more-programs /app/client/package.json node_modules/tenant-messaging-client/
COPY --from=more-programs /app/client/dist node_modules/tenant-messaging-client/dist
COPY package.json ./
COPY --from=more-programs /app/dist dist
RUN install -d -o 65532 -g 65532 /data
# Only published ports of a container can be reached from elsewhere.
ENV NODE_ENV=production DATA_DIR=/data SIMULATOR_HOST=0.0.0.0
VOLUME /data

FROM tools AS simulator
ENV SIMULATOR_MEDIA_PORT=3003
USER 65532:65532
EXPOSE 3002 3003
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["node", "-e", \
  "fetch(`http://127.0.0.1:${process.env.SIMULATOR_PORT || 3002}/root-key`).then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--enable-source-maps", "dist/service/dev/simulator.js"]

FROM tools AS try
RUN command -v redis-server || \
  { apt-get update && apt-get install --yes --no-install-recommends redis-server && rm -rf /var/lib/apt/lists/*; }
COPY image/tour /usr/local/bin/tour
ENV HOST=0.0.0.0 ADMIN_HOST=0.0.0.0
USER 65532:65532
EXPOSE 3000 3001 3002
# The demo account is made once the service is ready.
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 CMD ["grep", "-q", "apiKey", "/data/dev.json"]
ENTRYPOINT ["node", "--enable-source-maps", "dist/service/dev/try-out.js"]

# This target is the last one, so it is built if no target is named.
FROM scratch AS service
WORKDIR /app
# Nobody else reaches a container's loopback, not even the scraper or a front door. `-p` decides which ports are
# published. If the operators' listener is on a network, short tokens are refused.
ENV NODE_ENV=production HOST=0.0.0.0 ADMIN_HOST=0.0.0.0
# `npm start` has the same number (docs/running.md).
ENV UV_THREADPOOL_SIZE=8
COPY --from=packages /system /
COPY --from=packages /app/node_modules node_modules
COPY package.json ./
COPY --from=program /app/dist dist
USER 65532:65532
EXPOSE 3000 3001
# The check asks if the process is alive, not if it is ready. No node is ready without Redis, and a restart would not
# help.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["/usr/bin/node", "-e", \
  "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT || 3001}/healthz`).then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
# bin/image passes these facts of the build. They are in the labels of
# https://specs.opencontainers.org/image-spec/annotations/, and REVISION is in msgapi_build_info.
ARG VERSION=unknown
ARG REVISION=unknown
ARG CREATED=unknown
ENV REVISION=${REVISION}
LABEL org.opencontainers.image.title="tenant-messaging-api" \
  org.opencontainers.image.description="Tenant messaging API: the service alone" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.created="${CREATED}"
# Node is process 1 and hears SIGTERM itself. It starts no processes, so there are none to reap.
# The flags are those of `npm start`.
ENTRYPOINT ["/usr/bin/node", "--enable-source-maps", "--max-semi-space-size=64", "--v8-pool-size=1", "dist/service/service.js"]
