# The service alone: no Redis, no simulator, no compiler, no shell. Needs REDIS_URL, ADMIN_TOKEN and CREDENTIALS_KEY.
# Writes only under /data, so the root file system may be read-only.

FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm install --no-save --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY bin bin
COPY runtime runtime
COPY policy policy
COPY actors actors
COPY http http
RUN npm run build && npm prune --omit=dev --no-audit --no-fund && mkdir /data

FROM gcr.io/distroless/nodejs20-debian12:nonroot
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 ADMIN_HOST=0.0.0.0 DATA_DIR=/data
COPY --from=build --chown=nonroot:nonroot /data /data
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
USER nonroot
VOLUME /data
EXPOSE 3000 3001
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["/nodejs/bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT || 3001}/healthz`).then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
CMD ["--enable-source-maps", "dist/bin/service.js"]
