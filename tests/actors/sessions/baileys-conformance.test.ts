import { inboundConformance } from './inbound-conformance.ts';
import { limitsConformance } from './limits-conformance.ts';
import { sessionConformance } from './session-conformance.ts';
import { startSimulated } from './simulated-network.ts';

sessionConformance('the real client', () => startSimulated());
limitsConformance('the real client', () => startSimulated());
inboundConformance('the real client', () => startSimulated());
