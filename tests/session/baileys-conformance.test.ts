import { sessionConformance } from './session-conformance.ts';
import { startSimulated } from './simulated-network.ts';

sessionConformance('the real client', () => startSimulated());
