import { SECRET_NAMES } from '../../service/environment.ts';
import { composedSetting, row, type SettingGroup } from './settings-row.ts';

/** All settings. `npm run settings` writes docs/settings.md and .env.example from them. */
export const SETTING_GROUPS: readonly SettingGroup[] = [
  {
    title: 'Secrets',
    settings: [
      row('ADMIN_TOKEN', 'required, or an admin in `ADMIN_TOKENS`', 'token of the operator `admin`', {
        required: 'openssl rand -hex 24',
      }),
      row('ADMIN_TOKENS', 'none', 'more operators: `name:role:token`, separated by commas'),
      row('METRICS_TOKEN', 'none', 'token for `/metrics` and nothing else'),
      row('CREDENTIALS_KEY', 'required', '32 bytes in base64 that seal the stored sessions', {
        required: 'openssl rand -base64 32',
      }),
      ...[...SECRET_NAMES].map((name) =>
        row(`${name}_FILE`, 'none', `file with \`${name}\``, { readBy: 'secret files' }),
      ),
    ],
    note: `A token has 16 characters or more. \`ADMIN_TOKEN\` may have 8 if \`ADMIN_HOST\` is loopback. Roles are \`read\`, \`operate\` and
\`admin\`: [docs/operators.md](docs/operators.md). Operators' tokens open \`/metrics\`, too.

Without \`CREDENTIALS_KEY\` the stored sessions of every shop are lost. It may have several keys, separated by commas: the
first seals, all of them open ([rotating it](docs/running.md#rotating-credentials_key)). The service refuses to start if no
configured key opens the stored data.

Each secret, and \`REDIS_URL\`, may be in a file instead, as orchestrators mount them. White space at its end is not part
of the secret. A secret given in both ways is refused. \`compose.yaml\` mounts the folder \`SECRETS\` at \`/run/secrets\`;
user 65532 must be able to read the files. With \`compose.yaml\`, set \`ADMIN_TOKEN\`, \`CREDENTIALS_KEY\` or \`REDIS_URL\` to
an empty value if you use its file: \`CREDENTIALS_KEY=\` and \`CREDENTIALS_KEY_FILE=/run/secrets/key\`. Its Prometheus reads
\`METRICS_TOKEN\` only by value.`,
  },
  {
    title: 'Addresses',
    settings: [
      row('PUBLIC_URL', "the listener's address", 'address of the API, as tenants reach it'),
      row(
        'SETUP_URL_TEMPLATE',
        '`{PUBLIC_URL}/shops/{shopId}/edit`',
        "address at which a shop's owner finishes its setup",
      ),
      row('PLATFORM_NAME', '`Tenant Messaging`', 'name of the platform'),
      row(
        'TRUSTED_PROXIES',
        'none',
        'proxies whose `X-Forwarded-For` is used: addresses and ranges ([docs/tls.md](docs/tls.md))',
      ),
      row('HOST', '`127.0.0.1`', "address of the API's listener", {
        decidedByCompose: 'the image listens on all addresses of its container',
      }),
      row('PORT', '`3000`', "port of the API's listener; with `compose.yaml`, of this machine"),
      row('ADMIN_HOST', '`127.0.0.1`', "address of the operators' listener", {
        decidedByCompose: 'see HOST',
      }),
      row('ADMIN_PORT', '`3001`', "port of the operators' listener; with `compose.yaml`, of this machine"),
    ],
  },
  {
    title: 'Redis and the node',
    settings: [
      row(
        'REDIS_URL',
        'required, or the one of `compose.yaml`',
        '`redis://`, `rediss://`, a Unix socket, or servers of a cluster separated by commas',
      ),
      row(
        'SEND_DURABILITY',
        '`master`',
        '`replica`: a caller is answered, and a message leaves, only after a replica of Redis has the message',
      ),
      row(
        'NODE_ID',
        'host and port; `bin/dev`: its `DATA_DIR`',
        "this node's name; a new process replaces the one that had it",
        { decidedByCompose: 'each node has a name there' },
      ),
      row(
        'SHARDS',
        'the number that the data has; `128` without data',
        '128 to 4096, set when the first node starts on an empty Redis ([docs/scaling.md](docs/scaling.md))',
      ),
      row(
        'SESSION_WORKERS',
        'the number of cores minus one, 1 to 4',
        'threads of the sessions; one that dies ends only its own sessions',
      ),
      row(
        'SHUTDOWN_DELAY_MS',
        '`0`',
        'how long `/readyz` returns 503 before a stopping node accepts no more calls',
      ),
      row(
        'LOG_LEVEL',
        '`info`',
        "pino's levels, `fatal` to `trace`, or `silent`; `debug` has a line for each request",
      ),
      row('REVISION', '`unknown`', 'the commit that `msgapi_build_info` names', {
        decidedByCompose: 'the image has its own',
      }),
    ],
    note: `\`SHUTDOWN_DELAY_MS\` is for load balancers that check \`/readyz\` every few seconds. A second signal ends the wait.`,
  },
  {
    title: 'The chat network',
    settings: [
      row('MSGAPP_SOCKET_URL', 'the real network', 'another chat network: a simulator'),
      row('MSGAPP_NOISE_ROOT_KEY', "the real network's", 'root key of that network; only on loopback'),
      row(
        'MSGAPP_CLIENT_VERSION',
        "the client's own",
        'version that the client reports, such as `2.3000.1035194821`, or `latest`',
      ),
      row('SEND_GAP_MS', '`6000-20000`', 'the random gap between two sends of a shop'),
      row(
        'MEDIA_DENIED_RANGES',
        'none',
        'your own public addresses that attachments and webhooks must not reach',
      ),
      row(
        'MEDIA_NAME_SERVERS',
        "the system's",
        "servers that resolve attachments' and webhooks' hosts; `/etc/hosts` is not read",
      ),
    ],
    note: `Set \`MSGAPP_CLIENT_VERSION\` when the network refuses the client's version (\`outdated\`). With \`latest\` one node a day
reads the network's own page (\`https://web.whatsapp.com/sw.js\`), and one reads it at once after a refusal. Sessions that
open later report that version. Until the page is read they report the client's own. \`SEND_GAP_MS\` may be shorter than 6
seconds only with a simulator on this machine.`,
  },
  {
    title: 'How long things are kept',
    settings: [
      row(
        'MESSAGE_RETENTION_DAYS',
        '`30`',
        'messages and idempotency keys; messages to the end of that UTC day; at least 2',
      ),
      row('EVENT_RETENTION_DAYS', '`7`', 'how far `GET /events` can go back; at least 1'),
      row('EVENT_MAX_ENTRIES', '`50000`', 'events kept of a tenant'),
      row('REQUEST_LOG_RETENTION_DAYS', '`7`', 'the request log, and dead letters; at least 1'),
      row('REQUEST_LOG_MAX_ENTRIES', '`100000`', 'entries of the request log of a tenant'),
      row('REQUEST_LOG_MAX_BYTES', '`268435456`', 'bytes of the request log, of all tenants together'),
    ],
    note: 'Days and entries: the limit that is reached first applies.',
  },
  {
    title: 'Traces',
    settings: [
      row(
        'OTEL_EXPORTER_OTLP_ENDPOINT',
        'none: nothing is traced',
        'base address of a collector that accepts OTLP over HTTP',
      ),
      row('OTEL_SERVICE_NAME', '`tenant-messaging-api`', 'name of this service in spans'),
      row(
        'OTEL_EXPORTER_OTLP_HEADERS',
        'none',
        'headers for the collector: `name=value`, separated by commas',
        { readBy: 'sdk' },
      ),
      row(
        'OTEL_TRACES_SAMPLER',
        '`parentbased_always_on`',
        "which traces are kept; a caller's `traceparent` never adds to them",
      ),
      row('OTEL_TRACES_SAMPLER_ARG', '`1`', 'the fraction that a `…traceidratio` keeps, from 0 to 1'),
    ],
    note: `Spans of calls, turns, commits, sends and acknowledgements go to \`/v1/traces\` at that address. In a container,
\`127.0.0.1\` is the container itself.`,
  },
  {
    title: '`bin/dev` and the simulator',
    settings: [
      row('DATA_DIR', '`.data`', 'directory of their files', {
        readBy: 'bin/dev',
        decidedByCompose: 'neither `bin/dev` nor the simulator runs there',
      }),
      row('SIMULATOR_PORT', '`3002`', "the simulator's port", {
        readBy: 'bin/dev',
        decidedByCompose: 'no simulator runs there',
      }),
      row(
        'SIMULATOR_HOST',
        '`127.0.0.1`',
        'address on which the simulator listens; `0.0.0.0` only in a container, since it asks for no password',
        { readBy: 'bin/dev', decidedByCompose: 'no simulator runs there' },
      ),
      row('SIMULATOR_MEDIA_PORT', '`0`: any free one', "the port of the simulator's attachments", {
        readBy: 'bin/dev',
        decidedByCompose: 'no simulator runs there',
      }),
    ],
  },
  {
    title: 'Only for `compose.yaml`',
    settings: [
      composedSetting('API_DOMAIN', '`localhost`', 'profile `tls`: the name that certificates are for'),
      composedSetting(
        'TLS',
        "Let's Encrypt",
        'profile `tls`: another source of certificates, as a line for Caddy',
      ),
      composedSetting('CERTIFICATES', 'an empty volume', 'profile `tls`: folder mounted at `/certificates`'),
      composedSetting('HTTP_PORT', '`80`', 'profile `tls`: port for plain HTTP'),
      composedSetting('HTTPS_PORT', '`443`', 'profile `tls`: port for HTTPS'),
      composedSetting('PROMETHEUS_PORT', '`9090`', "profile `monitoring`: Prometheus' port"),
      composedSetting('GRAFANA_PORT', '`3003`', "profile `monitoring`: Grafana's port"),
      composedSetting('SECRETS', 'an empty volume', 'folder mounted at `/run/secrets` of the nodes'),
      composedSetting(
        'STOP_GRACE_PERIOD',
        '`15s`',
        'how long a node may take to stop: `SHUTDOWN_DELAY_MS` and 15 s',
      ),
      composedSetting(
        'SERVICE_IMAGE',
        '`tenant-messaging-api`',
        'the image of the nodes; `bin/image` builds it',
      ),
      composedSetting('REDIS_IMAGE', '`redis:7`', 'the image of Redis'),
      composedSetting('FRONT_IMAGE', '`nginx:1-alpine`', 'the image of nginx'),
      composedSetting('TLS_IMAGE', '`caddy:2-alpine`', 'the image of Caddy'),
      composedSetting('PROMETHEUS_IMAGE', '`prom/prometheus:v3.5.0`', 'the image of Prometheus'),
      composedSetting('GRAFANA_IMAGE', '`grafana/grafana:12.0.0`', 'the image of Grafana'),
    ],
  },
];
