/** Every frequent query of the Catalog on deliveries uses an index, and every sum uses only the index. */
import { expect, it } from 'vitest';
import { nextDueCallback } from '../../../../../src/objects/catalog/triggers/callbacks/callback-rows.ts';
import { acceptDelivery, followTurn } from '../../../../../src/objects/catalog/triggers/deliveries/deliveries.ts';
import { createDeliverySweep } from '../../../../../src/objects/catalog/triggers/deliveries/delivery-sweep.ts';
import { notice, openLife, openStorage, run } from './deliveries-of.ts';

it('No query of the deliveries reads rows that it does not return', async () => {
  const storage = openStorage();
  const { context } = storage;
  const { exec } = context.sql;
  const walks: string[] = [];
  const watched = (query: string, ...bindings: never[]) => {
    if (/^\s*(SELECT|UPDATE|DELETE)/.test(query))
      for (const { detail } of exec<{ detail: string }>(`EXPLAIN QUERY PLAN ${query}`, ...bindings).toArray())
        if (/^SCAN (deliveries|delivery_parts|callbacks|schedule_state)/.test(detail) && !detail.includes('COVERING INDEX'))
          walks.push(query);
    return exec(query, ...bindings);
  };
  Object.assign(context.sql, { exec: watched });
  const life = openLife(storage);
  const sweep = createDeliverySweep(context);
  for (const id of ['1', '2']) acceptDelivery(context, run(id, 'one'));
  life.dispatcher.kick();
  await life.quiet();
  for (const begun of life.begun) followTurn(context, begun.trigger, notice(begun));
  nextDueCallback(context.sql, []);
  nextDueCallback(context.sql, [{ kind: 'webhook', name: 'slow' }]);
  life.dispatcher.nextDue();
  sweep.nextDue();
  await sweep.runDue();
  expect(walks).toEqual([]);
});
