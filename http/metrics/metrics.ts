import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { Yielder } from '../../runtime/yielder.ts';
import { PlainHistogram } from './plain-histogram.ts';

/** Names and values of a series. */
type Labels = Readonly<Record<string, string>>;

/** One value, or one for each set of labels. */
type Reading = number | readonly { readonly labels: Labels; readonly value: number }[];

/** Registers values that are read when `/metrics` is asked. */
type Register = (name: string, help: string, readValue: () => Reading | Promise<Reading>) => void;

interface HistogramReading {
  readonly labels: Labels;
  /** The number of observations between each bound and the one before it, then the number above all bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  /** Upper bounds of the buckets, ascending. */
  readonly bounds: readonly number[];
}

/** A histogram counted elsewhere, read when `/metrics` is asked. */
export interface HistogramSource extends HistogramOptions {
  read(): readonly HistogramReading[];
}

/** The numbers of one node in Prometheus form. */
export interface Metrics {
  readonly contentType: string;
  /** Registers a histogram and returns its observer. With a `label`, each observation gives the label's value. */
  histogram(options: HistogramOptions): (value: number) => void;
  histogram(options: HistogramOptions & { readonly label: string }): (value: number, label: string) => void;
  /** A counter only ever grows. */
  readonly counter: Register;
  readonly gauge: Register;
  /**
   * Registers a counter that is counted here, and returns what adds to it, by default one. The series of `knownLabels`
   * begin at 0, since Prometheus sees no increase of a series that is new.
   */
  counted(
    name: string,
    help: string,
    knownLabels: readonly Labels[],
  ): (labels: Labels, count?: number) => void;
  histogramSource(source: HistogramSource): void;
  text(): Promise<string>;
}

/**
 * Time between two samples of the event loop's delay, in milliseconds. A measured delay includes this time. Each sample
 * interrupts an idle process: at 100 ms, samples were two fifths of the idle main thread's CPU time.
 */
const EVENT_LOOP_SAMPLE_MS = 500;

/** Metrics of prom-client that `exportProcess` of http/metrics/node-metrics.ts replaces. */
const REPLACED = ['process_open_fds', 'process_max_fds'];

/** Creates a separate registry with the numbers of the process and its event loop. */
export function makeMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  for (const name of REPLACED) registry.removeSingleMetric(name);
  const readAs =
    (type: 'counter' | 'gauge'): Register =>
    (name, help, readValue) =>
      register(registry, { name, help, type }, async () => {
        const reading = await readValue();
        return typeof reading === 'number' ? [{ labels: {}, value: reading }] : reading;
      });
  const counter = readAs('counter');
  const histogramSource: Metrics['histogramSource'] = ({ name, help, bounds, read }) =>
    register(registry, { name, help, type: 'histogram' }, async () =>
      read().flatMap((reading) => samplesOf(name, bounds, reading)),
    );
  return {
    contentType: registry.contentType,
    histogram({ name, help, bounds, label }: HistogramOptions & { readonly label?: string }) {
      const byLabel = new Map<string, PlainHistogram>();
      if (label === undefined) byLabel.set('', new PlainHistogram(bounds));
      histogramSource({
        name,
        help,
        bounds,
        read: () =>
          [...byLabel].map(([value, { counts, sum }]) => ({
            labels: label === undefined ? {} : { [label]: value },
            counts,
            sum,
          })),
      });
      return (value: number, label: string = '') => {
        let histogram = byLabel.get(label);
        if (histogram === undefined) {
          histogram = new PlainHistogram(bounds);
          byLabel.set(label, histogram);
        }
        histogram.observe(value);
      };
    },
    counter,
    gauge: readAs('gauge'),
    counted(name, help, knownLabels) {
      const series = new Map<string, { readonly labels: Labels; value: number }>();
      const add = (labels: Labels, count = 1): void => {
        const key = Object.values(labels).join();
        const countedSeries = series.get(key) ?? { labels, value: 0 };
        countedSeries.value += count;
        series.set(key, countedSeries);
      };
      for (const labels of knownLabels) add(labels, 0);
      counter(name, help, () => [...series.values()]);
      return add;
    },
    histogramSource,
    text: () => textOf(registry),
  };
}

/**
 * Returns the text of the registry's `metrics()`. It is made one family at a time, because all of them at once block
 * the event loop for milliseconds.
 */
async function textOf(registry: Registry): Promise<string> {
  const families: string[] = [];
  const yielder = new Yielder();
  for (const { name } of registry.getMetricsAsArray()) {
    families.push(await registry.getSingleMetricAsString(name));
    if (yielder.isOver(true)) await yielder.next();
  }
  return `${families.join('\n\n')}\n`;
}

/** One sample. Without `name` it has the name of its metric. */
interface Sample {
  readonly metricName?: string;
  readonly labels: Labels;
  readonly value: number;
}

/**
 * Registers a metric of ours. prom-client wants the names of labels at the start, but ours come with the values. So
 * `get` replaces the metric's own reading. Throws if the help text ends with a full stop: none of ours does.
 */
function register(
  registry: Registry,
  description: {
    readonly name: string;
    readonly help: string;
    readonly type: 'counter' | 'gauge' | 'histogram';
  },
  readValue: () => Promise<readonly Sample[]>,
): void {
  const { name, help } = description;
  if (help.endsWith('.')) throw new Error(`the help text of ${name} ends with a full stop`);
  const metric = new Gauge({ name, help, registers: [] });
  Object.assign(metric, {
    get: async () => ({ ...description, values: await readValue(), aggregator: 'sum' }),
  });
  registry.registerMetric(metric);
}

/** Returns the samples of a histogram. A bucket of Prometheus also counts the observations of the buckets below it. */
function samplesOf(
  name: string,
  bounds: readonly number[],
  { labels, counts, sum }: HistogramReading,
): Sample[] {
  let value = 0;
  const buckets = counts.map((count, index): Sample => {
    value += count;
    return {
      metricName: `${name}_bucket`,
      labels: { ...labels, le: String(bounds[index] ?? '+Inf') },
      value,
    };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value },
  ];
}
