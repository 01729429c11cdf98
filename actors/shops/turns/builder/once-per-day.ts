import type { AcceptedList } from '../../state/accepted-list.ts';
import type { TurnBuilder } from './turn-builder.ts';

/** The data of a shop that is stored by days, by the newest day whose expiry this actor set. */
type ExpiryDay = keyof Pick<AcceptedList, 'expiringDay' | 'indexedDay' | 'inboundDay'>;

/** True if the turn must set the expiry of this day. Later turns need not, once its commit succeeds. */
export function oncePerDay(builder: TurnBuilder, expiryDay: ExpiryDay, day: number): boolean {
  const { acceptedList } = builder.state;
  if (acceptedList[expiryDay] === day) return false;
  builder.onCommitted(() => {
    acceptedList[expiryDay] = day;
  });
  return true;
}
