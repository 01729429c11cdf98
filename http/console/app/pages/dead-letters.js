// @ts-check
import { html } from '/console/preact.js';
import { useAction, usePages } from '../asking.js';
import { Failure, More, RoleButton, Table, When } from '../parts.js';
import { address, shopAddress, useTitle } from '../route.js';
import { call } from '../session.js';

/** @import { DeadLetter } from '../answers.js' */

/** @param {DeadLetter} letter */
const keyOf = ({ id }) => id;

export function DeadLetters() {
  const letters = usePages('/dead-letters?limit=50', { everyMs: 5_000, keyOf });
  const action = useAction();
  useTitle('Dead letters');
  const replay = (/** @type {string} */ id) =>
    action.run(async () => {
      await call(`/dead-letters/${id}/replay`, { method: 'POST', body: {} });
      letters.refresh();
    });
  return html`
    <h1 tabindex="-1">Dead letters</h1>
    <p class="muted">Commands that made an actor throw. The actor continued without them. A replay gives it the command again.</p>
    <${Failure} failure=${letters.failure ?? action.failure} />
    <section class="panel">
      <${Table}
        caption="Dead letters, newest first"
        empty="None: no command made an actor throw."
        rows=${letters.items}
        failure=${letters.failure}
        keyOf=${keyOf}
        columns=${[
          { name: 'At', cell: (/** @type {DeadLetter} */ { at }) => html`<${When} at=${at} dated />` },
          {
            name: 'Actor',
            cell: (/** @type {DeadLetter} */ { actor }) => html`<${ActorName} actor=${actor} />`,
          },
          { name: 'Command', cell: (/** @type {DeadLetter} */ { command }) => html`<code>${command}</code>` },
          { name: 'Cause', place: 'full', cell: (/** @type {DeadLetter} */ { cause }) => cause },
          {
            name: 'Replay',
            cell: (/** @type {DeadLetter} */ { id, actor }) =>
              html`<${RoleButton} role=${actor.startsWith('shop/') ? 'operate' : 'admin'} disabled=${action.isBusy} onClick=${() => replay(id)}>Replay<//>`,
          },
        ]}
      />
      <${More} next=${letters.next} isBusy=${letters.isBusy} />
    </section>
  `;
}

/** @param {{ actor: string }} props `shop/<tenant>/<shop>` or `tenant/<tenant>` */
function ActorName({ actor }) {
  const [, tenantId = '', shopId] = actor.split('/');
  const place = shopId === undefined ? address(`/tenants/${tenantId}`) : shopAddress({ tenantId, shopId });
  // It breaks after a slash if it does not fit.
  const parts = actor.split(/(?<=\/)/);
  return html`<a href=${place}><code class="wrap">${parts.map((part) => html`${part}<wbr />`)}</code></a>`;
}
