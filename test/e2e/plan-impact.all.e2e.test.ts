/** A project renames tools after a day of calls: its plan says which calls would fail, and `--mend` keeps them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { root } from './service.ts';
import { shareService } from './shared-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'moniker-plan-impact-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the plan of a project', () => {
  const service = shareService({});
  const toolset = (name: string) => ({ tools: [{ tool: 'local.calculate', name }] });
  const call = async (name: string) => {
    const made = await service.call('POST', '/v1/toolsets/office/calls', { name, arguments: { expression: '6*7' } });
    return [made.status, made.json.isError];
  };
  const apply = async (document: unknown, query = '') => (await service.call('PUT', `/v1/projects/office${query}`, document)).json;
  const moniker = (...parameters: string[]) => {
    const given = [...parameters, '--url', service.url, '--key', service.key];
    return spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), ...given], { cwd: folder, encoding: 'utf8' });
  };
  const changed = {
    toolsets: { office: toolset('compute'), new: toolset('anything') },
    policy: { rules: [{ decision: 'deny', key: 'root' }] },
  };

  it('has no impact while nothing breaks', async () => {
    await apply({ toolsets: { office: toolset('reckon') } });
    for (const name of ['reckon', 'reckon', 'Reckon', 'local.calculate']) expect(await call(name)).toEqual([200, false]);
    await vi.waitFor(
      async () => expect((await apply({ toolsets: { office: toolset('other') } }, '?dryRun=true')).impact[0].calls).toBe(3),
      {
        timeout: waitMs,
        interval: 200,
      },
    );
    const kept = { ...toolset('reckon'), description: 'Counts.' };
    expect(await apply({ toolsets: { office: kept } }, '?dryRun=true')).toMatchObject({
      ...{ updated: ['toolsets.office'], impact: [], notCompared: [] },
    });
  });

  it('counts the calls that its toolsets and rules would break, and says where all of them are', async () => {
    const plan = await apply(changed, '?dryRun=true');
    expect(plan.impact).toEqual([
      {
        ...{ name: 'policy', days: 30, names: 0, examples: [], calls: 4, gone: 0, moved: 0, ambiguous: 0, unusable: 0, refused: 0 },
        ...{ denied: 4, asked: 0, eased: 0, mends: 0, isWhole: true, more: 'POST /v1/policy/impact' },
        text: 'Of the last 30 days, 4 calls would be denied.',
      },
      {
        ...{ name: 'toolsets.office', days: 30, names: 2, examples: ['reckon', 'Reckon'], calls: 3, gone: 3, moved: 0, ambiguous: 0 },
        ...{ unusable: 0, refused: 0, denied: 0, asked: 0, eased: 0, mends: 1, isWhole: true, more: 'POST /v1/toolsets/office/impact' },
        text: expect.stringContaining('3 calls of 2 names (reckon, Reckon) would fail'),
      },
    ]);
    const imported = await service.call('POST', '/v1/import?dryRun=true', { toolsets: { office: toolset('compute') } });
    expect(imported.json.impact, imported.text).toMatchObject([{ name: 'toolsets.office', gone: 3 }]);
  });

  it('compares ten toolsets, and names the others', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`many-${String(index).padStart(2, '0')}`, toolset('reckon')]),
    );
    const project = (name: string) => ({ toolsets: Object.fromEntries(Object.keys(many).map((one) => [one, toolset(name)])) });
    await service.call('PUT', '/v1/projects/many', { toolsets: many });
    const plan = await service.call('PUT', '/v1/projects/many?dryRun=true', project('compute'));
    expect(plan.json.notCompared.map(({ name }: { name: string }) => name)).toEqual(['toolsets.many-10', 'toolsets.many-11']);
    const mended = await service.call('PUT', '/v1/projects/many?mend=true', project('compute'));
    expect(mended.json.notCompared).toHaveLength(2);
    await service.call('DELETE', '/v1/projects/many?documents=true');
  });

  it('is printed by the command line, and --mend keeps the calls', async () => {
    const file = join(folder, 'office.json');
    writeFileSync(file, JSON.stringify({ toolsets: { office: toolset('compute') } }));
    const plan = moniker('apply', file, '--project', 'office', '--dry-run');
    expect(plan.stdout, plan.stderr).toContain(
      'toolsets.office: Of the last 30 days, 3 calls of 2 names (reckon, Reckon) would fail or call another tool. Kept by one alias, as far as possible. Add --mend.',
    );
    const done = moniker('apply', file, '--project', 'office', '--mend');
    expect(done.status, done.stderr).toBe(0);
    for (const name of ['reckon', 'Reckon', 'compute']) expect(await call(name)).toEqual([200, false]);
    // Applied again it changes nothing, as the calls are still those of the last days.
    expect(moniker('apply', file, '--project', 'office', '--mend').stdout).toContain('1 unchanged');
  });
});
