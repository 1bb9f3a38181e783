/** The place of a running turn among the turns in progress of its isolate. */
import { expect, it } from 'vitest';
import { poolBounds } from '../../../../src/core/limits/pools.ts';
import { calls, finish, makeRoom, type Model, plan, reply, silence } from '../runner-session.ts';

const owner = { workspace: 'default', keyId: 'k1' };
const roomOf = (...models: Model[]) => makeRoom(models, { keyId: owner.keyId });
const text = () => reply({ type: 'text', text: 'done' }, finish);
type Room = Awaited<ReturnType<typeof makeRoom>>;

const endings: { title: string; models: Model[]; end?: (room: Room) => unknown }[] = [
  { title: 'completes', models: [text] },
  { title: 'waits for a person', models: [calls(['asks', {}])] },
  { title: 'is cancelled', models: [silence], end: ({ room }) => room.runner.cancel() },
  { title: 'exceeds its time limit', models: [silence], end: ({ clock }) => clock.advance(5_000) },
  {
    title: 'fails',
    models: [
      () => {
        throw new Error('no model');
      },
    ],
  },
];

for (const { title, models, end } of endings)
  it(`A turn holds a place until it ${title}`, async () => {
    const room = await roomOf(...models);
    room.accept('t1', { limits: { turnTimeoutMs: 5_000 } });
    expect(room.running.usedBy(owner)).toBe(1);
    await room.settle();
    await end?.(room);
    await room.settle();
    expect(room.running.usedBy(owner)).toBe(0);
  });

it('A turn that works for long keeps its place, and one whose process died gives it up', async () => {
  const room = await roomOf(silence, silence);
  room.accept('t1');
  for (let passed = 0; passed < 2 * poolBounds.turns.holdMs; passed += 5_000) {
    await room.clock.advance(5_000);
    await room.ring();
  }
  const fill = () => {
    let places = 0;
    while ('release' in room.running.take(owner)) places += 1;
    return places;
  };
  expect(fill()).toBe(poolBounds.turns.perKey - 1);
  room.die();
  await room.clock.advance(poolBounds.turns.holdMs);
  expect(fill()).toBe(poolBounds.turns.perKey);
});

it('A turn that was accepted starts and resumes also when its key has too many in progress', async () => {
  const room = await roomOf(silence, silence, text);
  room.accept('t1');
  room.accept('t2');
  while ('release' in room.running.take(owner));
  expect(() => room.room.runner.requirePlace(plan)).not.toThrow();
  await room.restart();
  expect(room.running.usedBy(owner)).toBe(poolBounds.turns.perKey + 1);
  room.room.runner.cancel();
  await room.settle();
  expect(room.events().at(-1)).toMatchObject({ type: 'turn-end', turn: 't2', status: 'completed' });
  expect(() => room.room.runner.requirePlace(plan)).toThrow(/too many turns in progress: \d+ of at most \d+/);
});
