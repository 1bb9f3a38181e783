/** Members in the real Catalogs: one member for each email, the workspaces of a person, and rights that end with the membership. */
import { expect, it } from 'vitest';
import { userIdOf } from '../../../src/core/people/person.ts';
import { keyIdOfUser, type Principal, systemKeyId } from '../../../src/core/people/principal.ts';
import { writeGroupMember } from '../../../src/http/sign-in/group-member.ts';
import { createPeople } from '../../../src/storage/published/people.ts';
import { createCatalogClient } from '../../../src/objects/catalog/client/catalog-client.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { readSettings } from '../../../src/core/people/settings.ts';
import { wire } from '../../../src/wiring/wire.ts';
import { waitUntil } from '../../wait-for.ts';
import { testEnv } from '../../storage/workspace.ts';
import { send } from './real-service.ts';

const catalog = (workspace: string) => createCatalogClient(testEnv, workspace);
const settings = readSettings(testEnv);
const people = () => createPeople({ settings, clock: { now: Date.now } as never, sealing: createMasterKey(settings.masterKey), catalog });
const inside = (workspace: string) => ({ 'x-moniker-workspace': workspace });
const put = (name: string, email: string, role: string, workspace = 'default') =>
  send('PUT', `/v1/members/${name}`, { email, role }, inside(workspace));

it('has one member for each email', async () => {
  expect((await put('one', 'one@example.com', 'user')).status).toBe(201);
  const response = await put('again', 'ONE@example.com', 'owner');
  expect([response.status, await response.text()]).toEqual([422, expect.stringContaining('already the email of the member')]);
  expect((await put('one', 'uno@example.com', 'user')).status).toBe(200);
  expect((await put('again', 'one@example.com', 'user')).status).toBe(201);
});

it('lists the workspaces of a person, and gives rights in those only', async () => {
  const user = { id: await userIdOf('two@example.com'), name: 'Two', email: 'two@example.com' };
  for (const workspace of ['acme', 'zeta', 'empty']) expect((await send('PUT', `/v1/workspaces/${workspace}`, {})).status).toBe(201);
  await put('two', user.email, 'editor', 'zeta');
  await waitUntil(async () => (await people().workspaces(user)).length === 1);
  await put('two', user.email, 'user', 'acme');
  await waitUntil(async () => (await people().workspaces(user)).length === 2);
  expect(await people().workspaces(user)).toEqual([
    { workspace: 'zeta', role: 'editor' },
    { workspace: 'acme', role: 'user' },
  ]);
  const person = { user, email: user.email, isRoot: false, session: { id: 'x', expiresAt: Date.now() + 60_000 } };
  // Not that of an owner who has added the person later.
  expect(await people().principal(person, null)).toMatchObject({ workspace: 'zeta', role: 'editor' });
  await put('other', 'other@example.com', 'user', 'zeta');
  await waitUntil(async () => (await people().workspaces({ id: await userIdOf('other@example.com') })).length === 1);
  expect(await people().principal(person, null)).toMatchObject({ workspace: 'zeta' });
  expect(await people().principal(person, 'acme')).toMatchObject({ workspace: 'acme', scopes: ['chat', 'tools'] });
  for (const workspace of ['empty', 'default', 'unknown', 'a:b', ''])
    await expect(people().principal(person, workspace), workspace).rejects.toMatchObject({ code: 'forbidden' });
  await send('DELETE', '/v1/members/two', undefined, inside('acme'));
  await waitUntil(async () => (await people().workspaces(user)).length === 1);
});

it('knows the rights of the key of a person, until the membership ends', async () => {
  await put('three', 'three@example.com', 'approver');
  const keyId = keyIdOfUser(await userIdOf('three@example.com'));
  expect(await catalog('default').keyRights(keyId)).toEqual({ role: 'approver', scopes: ['tools', 'approve'] });
  const later = { keyId, at: Date.now() };
  expect(await catalog('default').originRights(later)).toEqual({ role: 'approver', scopes: ['tools', 'approve'] });
  await send('DELETE', '/v1/members/three');
  expect(await catalog('default').keyRights(keyId)).toBeNull();
  expect(await catalog('default').originRights(later)).toBeNull();
});

it('ends the turns of a removed member, but none of a person who is added again', async () => {
  await put('four', 'four@example.com', 'user');
  await send('PUT', '/v1/toolsets/removed', { tools: [{ tool: 'builtin.bash', name: 'shell', approval: 'always' }] });
  const keyId = keyIdOfUser(await userIdOf('four@example.com'));
  const person: Principal = { workspace: 'default', keyId, scopes: ['chat', 'tools'] };
  const { sessions, planTurn } = wire(testEnv);
  const { id } = await sessions.create(person, { model: 'rehearsal/default', toolset: 'removed', listed: true });
  const ask = async (): Promise<void> => {
    const plan = await planTurn(person, { model: 'rehearsal/default', toolset: 'removed' });
    const { turn } = await sessions.get(id).submit(person, { plan, input: [{ type: 'text', text: '/shell {"command": "date"}' }] });
    expect(await sessions.get(id).waitForAnswer(person, turn)).toMatchObject({ status: 'waiting' });
  };
  const status = async () => (await sessions.get(id).view(person)).turn?.status;
  await ask();
  await send('DELETE', '/v1/members/four');
  await waitUntil(async () => (await status()) === 'cancelled');
  await put('four', 'four@example.com', 'user');
  await ask();
  expect(await catalog('default').keyCancellation(keyId)).toEqual({ cancelledTurns: 0, isDone: true });
  expect(await status()).toBe('waiting');
});

it('signs out once and for all holders', async () => {
  const one = people();
  const person = await one.read(await one.begin(null));
  if (person === null) throw new Error('not signed in');
  expect(await one.isEnded(person)).toBe(false);
  await one.end(person);
  await one.end(person);
  expect(await one.isEnded(person)).toBe(true);
  expect(await people().isEnded(person)).toBe(true);
});

it('exports members, and writes them from a project', async () => {
  await put('four', 'four@example.com', 'owner');
  const project = (await (await send('GET', '/v1/export?format=json')).json()) as { members: Record<string, object> };
  expect(project.members.four).toEqual({ email: 'four@example.com', role: 'owner' });
  const five = { members: { five: { email: 'five@example.com', role: 'user', toolsets: ['a'] } } };
  expect((await send('PUT', '/v1/projects/team', five)).status).toBe(200);
  expect((await (await send('GET', '/v1/members/five')).json()) as object).toMatchObject(five.members.five);
});

it('writes a member by groups, and an entry of the audit for each change only', async () => {
  const email = 'grouped@example.com';
  const user = { id: await userIdOf(email), name: 'Grouped' };
  const port = createCatalogClient(testEnv, { workspace: 'default', keyId: systemKeyId });
  const rights = (role: 'editor' | 'user', groups: string[]) => ({ role, groups, hours: 24 });
  const write = (byGroups: ReturnType<typeof rights> | null, provider = 'oidc', now = Date.now()) =>
    writeGroupMember(port, { user, email, provider, byGroups }, now);
  expect(await write(rights('user', ['support']))).toBe('given');
  expect(await write(rights('user', ['support']))).toBeNull();
  expect(await write(rights('editor', ['platform', 'support']))).toBe('changed');
  // Another provider that gives nothing does not take it away.
  expect(await write(null, 'github')).toBeNull();
  expect((await people().member(user, 'default'))?.role).toBe('editor');
  expect(await write(null)).toBe('taken');
  expect(await people().member(user, 'default')).toBeNull();
  // Of a time that has passed.
  expect(await write(rights('editor', ['platform']), 'oidc', Date.now() - 25 * 3_600_000)).toBe('given');
  expect(await people().member(user, 'default')).toBeNull();
  expect(await write(rights('editor', ['platform']))).toBe('confirmed');
  expect((await people().member(user, 'default'))?.role).toBe('editor');
  const audit = (await (await send('GET', '/v1/audit?kind=change&limit=200')).json()) as { items: Record<string, unknown>[] };
  const own = audit.items.filter((row) => JSON.stringify(row).includes(`groups-${user.id.slice(0, 12)}`));
  expect(own).toHaveLength(5);
  for (const row of own) expect(JSON.stringify(row)).toContain(systemKeyId);
});
