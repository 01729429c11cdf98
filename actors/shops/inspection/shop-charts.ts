import { channelMachine } from '../machines/channel-machine.ts';
import { machineChart } from '../machines/machine-chart.ts';
import { pacingMachine } from '../machines/pacing-machine.ts';

/** The charts of both machines of a shop, which do not change while the program runs. */
export const SHOP_CHARTS = [machineChart(channelMachine), machineChart(pacingMachine)];
