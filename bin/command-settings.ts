import type { SettingGroup } from './settings-row.ts';

/** The settings that the service does not read: those of `bin/dev`, the simulator and `compose.yaml`. */
export const COMMAND_SETTING_GROUPS: readonly SettingGroup[] = [
  {
    title: '`bin/dev` and the simulator',
    settings: [
      {
        name: 'DATA_DIR',
        standard: '`.data`',
        meaning: 'directory of their files',
        decidedByCompose: 'neither runs there',
      },
      {
        name: 'SIMULATOR_PORT',
        standard: '`3002`',
        meaning: "the simulator's port",
        readBy: 'bin/dev',
        decidedByCompose: 'no simulator runs there',
      },
      {
        name: 'SIMULATOR_HOST',
        standard: '`127.0.0.1`',
        meaning:
          'address on which the simulator listens; `0.0.0.0` only in a container, since it asks for no password',
        readBy: 'bin/dev',
        decidedByCompose: 'no simulator runs there',
      },
      {
        name: 'SIMULATOR_MEDIA_PORT',
        standard: '`0`: any free one',
        meaning: "the port of the simulator's attachments",
        readBy: 'bin/dev',
        decidedByCompose: 'no simulator runs there',
      },
    ],
  },
  {
    title: 'Only for `compose.yaml`',
    settings: [
      {
        name: 'API_DOMAIN',
        standard: '`localhost`',
        meaning: 'profile `tls`: the name that certificates are for',
        readBy: 'compose.yaml',
      },
      {
        name: 'TLS',
        standard: "Let's Encrypt",
        meaning: 'profile `tls`: another source of certificates, as a line for Caddy',
        readBy: 'compose.yaml',
      },
      {
        name: 'CERTIFICATES',
        standard: 'an empty volume',
        meaning: 'profile `tls`: folder mounted at `/certificates`',
        readBy: 'compose.yaml',
      },
      {
        name: 'HTTP_PORT',
        standard: '`80`',
        meaning: 'profile `tls`: port for plain HTTP',
        readBy: 'compose.yaml',
      },
      {
        name: 'HTTPS_PORT',
        standard: '`443`',
        meaning: 'profile `tls`: port for HTTPS',
        readBy: 'compose.yaml',
      },
      {
        name: 'PROMETHEUS_PORT',
        standard: '`9090`',
        meaning: "profile `monitoring`: Prometheus' port",
        readBy: 'compose.yaml',
      },
      {
        name: 'GRAFANA_PORT',
        standard: '`3003`',
        meaning: "profile `monitoring`: Grafana's port",
        readBy: 'compose.yaml',
      },
      {
        name: 'SECRETS',
        standard: 'an empty volume',
        meaning: 'folder mounted at `/run/secrets` of the nodes',
        readBy: 'compose.yaml',
      },
      {
        name: 'STOP_GRACE_PERIOD',
        standard: '`15s`',
        meaning: 'how long a node may take to stop: `SHUTDOWN_DELAY_MS` and 15 s',
        readBy: 'compose.yaml',
      },
      {
        name: 'SERVICE_IMAGE',
        standard: '`tenant-messaging-api`',
        meaning: 'the image of the nodes; `bin/image` builds it',
        readBy: 'compose.yaml',
      },
      { name: 'REDIS_IMAGE', standard: '`redis:7`', meaning: 'the image of Redis', readBy: 'compose.yaml' },
      {
        name: 'FRONT_IMAGE',
        standard: '`nginx:1-alpine`',
        meaning: 'the image of nginx',
        readBy: 'compose.yaml',
      },
      {
        name: 'TLS_IMAGE',
        standard: '`caddy:2-alpine`',
        meaning: 'the image of Caddy',
        readBy: 'compose.yaml',
      },
      {
        name: 'PROMETHEUS_IMAGE',
        standard: '`prom/prometheus:v3.5.0`',
        meaning: 'the image of Prometheus',
        readBy: 'compose.yaml',
      },
      {
        name: 'GRAFANA_IMAGE',
        standard: '`grafana/grafana:12.0.0`',
        meaning: 'the image of Grafana',
        readBy: 'compose.yaml',
      },
    ],
  },
];
