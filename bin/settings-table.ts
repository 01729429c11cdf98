import { COMMAND_SETTING_GROUPS } from './command-settings.ts';
import type { SettingGroup } from './settings-row.ts';

const days = 'at least 1';

/** All settings. `npm run settings` writes docs/settings.md and .env.example from them. */
export const SETTING_GROUPS: readonly SettingGroup[] = [
  {
    title: 'Secrets',
    settings: [
      {
        name: 'ADMIN_TOKEN',
        standard: 'required, or an admin in `ADMIN_TOKENS`',
        meaning: 'token of the operator `admin`',
        required: 'openssl rand -hex 24',
      },
      {
        name: 'ADMIN_TOKENS',
        standard: 'none',
        meaning: 'more operators: `name:role:token`, separated by commas',
      },
      { name: 'METRICS_TOKEN', standard: 'none', meaning: 'token for `/metrics` and nothing else' },
      {
        name: 'CREDENTIALS_KEY',
        standard: 'required',
        meaning: '32 bytes in base64 that seal the stored sessions',
        required: 'openssl rand -base64 32',
      },
      {
        name: 'ADMIN_TOKEN_FILE',
        standard: 'none',
        meaning: 'file with `ADMIN_TOKEN`',
        readBy: 'secret files',
      },
      {
        name: 'ADMIN_TOKENS_FILE',
        standard: 'none',
        meaning: 'file with `ADMIN_TOKENS`',
        readBy: 'secret files',
      },
      {
        name: 'METRICS_TOKEN_FILE',
        standard: 'none',
        meaning: 'file with `METRICS_TOKEN`',
        readBy: 'secret files',
      },
      {
        name: 'CREDENTIALS_KEY_FILE',
        standard: 'none',
        meaning: 'file with `CREDENTIALS_KEY`',
        readBy: 'secret files',
      },
      { name: 'REDIS_URL_FILE', standard: 'none', meaning: 'file with `REDIS_URL`', readBy: 'secret files' },
    ],
    note: `A token has 16 characters or more. \`ADMIN_TOKEN\` may have 8 if \`ADMIN_HOST\` is loopback. Roles are \`read\`, \`operate\` and
\`admin\`: [docs/operators.md](docs/operators.md). Operators' tokens open \`/metrics\`, too.

Without \`CREDENTIALS_KEY\` the stored sessions of every shop are lost. It may have several keys, separated by commas: the first
seals, all of them open ([rotating it](docs/running.md#rotating-credentials_key)). The service refuses to
start if no configured key opens the stored data.

Each secret, and \`REDIS_URL\`, may be in a file instead, as orchestrators mount them. White space at its end is not part of the
secret. A secret given in both ways is refused. \`compose.yaml\` mounts the folder \`SECRETS\` at \`/run/secrets\`; user 65532 must be able
to read the files. With \`compose.yaml\`, set \`ADMIN_TOKEN\`, \`CREDENTIALS_KEY\` or \`REDIS_URL\` to an empty value if you use its
file: \`CREDENTIALS_KEY=\` and \`CREDENTIALS_KEY_FILE=/run/secrets/key\`. Its Prometheus reads \`METRICS_TOKEN\` only by value.`,
  },
  {
    title: 'Addresses',
    settings: [
      {
        name: 'PUBLIC_URL',
        standard: "the listener's address",
        meaning: 'address of the API that tenants are shown',
      },
      {
        name: 'SETUP_URL_TEMPLATE',
        standard: '`{PUBLIC_URL}/shops/{shopId}/edit`',
        meaning: "address at which a shop's owner finishes its setup",
      },
      { name: 'PLATFORM_NAME', standard: '`Tenant Messaging`', meaning: 'name of the platform' },
      {
        name: 'TRUSTED_PROXIES',
        standard: 'none',
        meaning: 'proxies whose `X-Forwarded-For` is used: addresses and ranges ([docs/tls.md](docs/tls.md))',
      },
      {
        name: 'HOST',
        standard: '`127.0.0.1`',
        meaning: "address of the API's listener",
        decidedByCompose: 'the image listens on all addresses of its container',
      },
      {
        name: 'PORT',
        standard: '`3000`',
        meaning: "port of the API's listener; with `compose.yaml`, of this machine",
      },
      {
        name: 'ADMIN_HOST',
        standard: '`127.0.0.1`',
        meaning: "address of the operators' listener",
        decidedByCompose: 'as HOST',
      },
      {
        name: 'ADMIN_PORT',
        standard: '`3001`',
        meaning: "port of the operators' listener; with `compose.yaml`, of this machine",
      },
    ],
  },
  {
    title: 'Redis and the node',
    settings: [
      {
        name: 'REDIS_URL',
        standard: 'required, or the one of `compose.yaml`',
        meaning: '`redis://`, `rediss://`, a Unix socket, or servers of a cluster separated by commas',
      },
      {
        name: 'SEND_DURABILITY',
        standard: '`master`',
        meaning:
          '`replica`: a replica of Redis has a message before its caller is answered, and before it leaves',
      },
      {
        name: 'NODE_ID',
        standard: 'host and port; `bin/dev`: its `DATA_DIR`',
        meaning: "this node's name; a new process replaces the one that had it",
        decidedByCompose: 'each node has a name there',
      },
      {
        name: 'SHARDS',
        standard: 'the number that the data has; `128` without data',
        meaning: '128 to 4096, chosen at the first start of all ([docs/scaling.md](docs/scaling.md))',
      },
      {
        name: 'SESSION_WORKERS',
        standard: 'the cores but one, 1 to 4',
        meaning: 'threads of the sessions; one that dies ends only its own sessions',
      },
      {
        name: 'SHUTDOWN_DELAY_MS',
        standard: '`0`',
        meaning: 'how long `/readyz` returns 503 before a stopping node accepts no more calls',
      },
      {
        name: 'LOG_LEVEL',
        standard: '`info`',
        meaning: "pino's levels, `fatal` to `trace`, or `silent`; `debug` has a line for each request",
      },
      {
        name: 'REVISION',
        standard: '`unknown`',
        meaning: 'the commit that `msgapi_build_info` names',
        decidedByCompose: 'the image has its own',
      },
    ],
    note: `\`SHUTDOWN_DELAY_MS\` is for load balancers that check \`/readyz\` every few seconds. A second signal ends the wait.`,
  },
  {
    title: 'The chat network',
    settings: [
      {
        name: 'MSGAPP_SOCKET_URL',
        standard: 'the real network',
        meaning: 'another chat network: a simulator',
      },
      {
        name: 'MSGAPP_NOISE_ROOT_KEY',
        standard: "the real network's",
        meaning: 'root key of that network; only on loopback',
      },
      {
        name: 'MSGAPP_CLIENT_VERSION',
        standard: "the client's own",
        meaning: 'version that the client reports, such as `2.3000.1035194821`, or `latest`',
      },
      {
        name: 'SEND_GAP_MS',
        standard: '`6000-20000`',
        meaning: 'the random gap between two sends of a shop',
      },
      {
        name: 'MEDIA_DENIED_RANGES',
        standard: 'none',
        meaning: 'your own public addresses that attachments and webhooks must not reach',
      },
      {
        name: 'MEDIA_NAME_SERVERS',
        standard: "the system's",
        meaning: "servers that resolve attachments' and webhooks' hosts; `/etc/hosts` is not read",
      },
    ],
    note: `Set \`MSGAPP_CLIENT_VERSION\` when the network refuses the client's version (\`outdated\`). With \`latest\` one node a day reads the
network's own page (\`https://web.whatsapp.com/sw.js\`), and one reads it at once after a refusal. Sessions that open later report
that version. Until the page is read they report the client's own. \`SEND_GAP_MS\` may be shorter than 6 seconds only with a
simulator on this machine.`,
  },
  {
    title: 'How long things are kept',
    settings: [
      {
        name: 'MESSAGE_RETENTION_DAYS',
        standard: '`30`',
        meaning: 'messages, to the end of a UTC day, and idempotency keys; at least 2',
      },
      {
        name: 'EVENT_RETENTION_DAYS',
        standard: '`7`',
        meaning: `how far \`GET /events\` can go back; ${days}`,
      },
      { name: 'EVENT_MAX_ENTRIES', standard: '`50000`', meaning: 'events kept of a tenant' },
      {
        name: 'REQUEST_LOG_RETENTION_DAYS',
        standard: '`7`',
        meaning: `the request log, and dead letters; ${days}`,
      },
      {
        name: 'REQUEST_LOG_MAX_ENTRIES',
        standard: '`100000`',
        meaning: 'entries of the request log of a tenant',
      },
      {
        name: 'REQUEST_LOG_MAX_BYTES',
        standard: '`268435456`',
        meaning: 'bytes of the request log, of all tenants together',
      },
    ],
    note: 'Days and entries: the limit that is reached first applies.',
  },
  {
    title: 'Traces',
    settings: [
      {
        name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
        standard: 'none: nothing is traced',
        meaning: 'base address of a collector that accepts OTLP over HTTP',
      },
      {
        name: 'OTEL_SERVICE_NAME',
        standard: '`tenant-messaging-api`',
        meaning: 'name of this service in spans',
      },
      {
        name: 'OTEL_EXPORTER_OTLP_HEADERS',
        standard: 'none',
        meaning: 'headers for the collector: `name=value`, separated by commas',
        readBy: 'sdk',
      },
      {
        name: 'OTEL_TRACES_SAMPLER',
        standard: '`parentbased_always_on`',
        meaning: 'which traces are kept; a caller’s `traceparent` never adds to them',
      },
      {
        name: 'OTEL_TRACES_SAMPLER_ARG',
        standard: '`1`',
        meaning: 'the fraction that a `…traceidratio` keeps, from 0 to 1',
      },
    ],
    note: `Spans of calls, turns, commits, sends and acknowledgements go to \`/v1/traces\` at that address. In a container,
\`127.0.0.1\` is the container itself.`,
  },
  ...COMMAND_SETTING_GROUPS,
];
