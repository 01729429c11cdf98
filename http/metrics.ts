import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { Slices } from '../runtime/in-slices.ts';

/** Values read when `/metrics` is asked. */
export interface MetricSource {
  readonly name: string;
  readonly help: string;
  /** A counter only ever grows. */
  readonly kind: 'counter' | 'gauge';
  read(): Reading | Promise<Reading>;
}

/** One value, or one for each set of labels. */
type Reading =
  | number
  | readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];

/** The numbers of one node in Prometheus form. */
export interface Metrics {
  readonly contentType: string;
  /** A histogram; returns its observer. */
  histogram(options: {
    readonly name: string;
    readonly help: string;
    readonly buckets: readonly number[];
    readonly labels?: readonly string[];
  }): (value: number, labels?: Record<string, string>) => void;
  source(source: MetricSource): void;
  text(): Promise<string>;
}

/** A registry of its own, with the process's and the event loop's numbers in it. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    contentType: registry.contentType,
    histogram({ name, help, buckets, labels = [] }) {
      const histogram = new Histogram({
        name,
        help,
        buckets: [...buckets],
        labelNames: [...labels],
        registers: [registry],
      });
      return (value, values) =>
        values === undefined ? histogram.observe(value) : histogram.observe(values, value);
    },
    source: (source) => register(registry, source),
    text: () => textOf(registry),
  };
}

/** The registry's own `metrics()`, one family at a time: all of them at once hold up those who send for milliseconds. */
async function textOf(registry: Registry): Promise<string> {
  const families: string[] = [];
  const slices = new Slices();
  for (const { name } of registry.getMetricsAsArray()) {
    families.push(await registry.getSingleMetricAsString(name));
    if (slices.isOver(true)) await slices.next();
  }
  return `${families.join('\n\n')}\n`;
}

/** prom-client fixes label names at the start; ours come with the values, so the metric renders itself. */
function register(registry: Registry, source: MetricSource): void {
  const { name, help, kind } = source;
  const options = { name, help, registers: [] };
  const metric = kind === 'counter' ? new Counter(options) : new Gauge(options);
  Object.assign(metric, {
    async get() {
      const read = await source.read();
      const values = typeof read === 'number' ? [{ labels: {}, value: read }] : read;
      return { name, help, type: kind, values, aggregator: 'sum' };
    },
  });
  registry.registerMetric(metric);
}
