/** The contract of the policy: one document, to which remembered rules are appended. */
import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import type { PolicyRule } from '../../../src/core/policy/rule.ts';
import { policyDocument } from '../../../src/ports/catalog.ts';
import type { CatalogParts, MakeWorkspace } from './workspace.ts';

export function policyContract(make: MakeWorkspace): void {
  let workspace: CatalogParts['workspace'];
  let catalog: CatalogParts['catalog'];
  let directory: CatalogParts['directory'];
  beforeEach(async () => {
    ({ workspace, catalog, directory } = await make());
  });

  describe('the policy', () => {
    const host = (name: string): PolicyRule => ({ decision: 'allow', kind: 'network', host: name });

    it('is one document of rules, seen at once by the writer', async () => {
      expect(await directory.rules(workspace)).toEqual([]);
      await catalog.put('policy', policyDocument, { rules: [host('A.example')] });
      expect(await directory.rules(workspace)).toEqual([host('a.example')]);
      expect(await catalog.put('policy', policyDocument, { rules: [host('a.example')] })).toMatchObject({ changed: false });
      await expect(catalog.put('policy', policyDocument, { rules: [{ decision: 'allow' }] })).rejects.toMatchObject({
        code: 'invalid_request',
      });
      await expect(catalog.put('policy', 'another', { rules: [] })).rejects.toMatchObject({ code: 'invalid_request' });
      await catalog.remove('policy', policyDocument);
      expect(await directory.rules(workspace)).toEqual([]);
    });

    it('appends a remembered rule once', async () => {
      const rules = [host('a.example'), { decision: 'allow' as const, kind: 'write-outside' as const, tool: 'builtin.bash', path: '/tmp' }];
      for (const rule of [...rules, ...rules]) await catalog.addRule(rule);
      expect(await directory.rules(workspace)).toEqual(rules);
      expect((await catalog.get('policy', policyDocument)).version).toBe(2);
      await Promise.all(['b', 'c', 'd', 'b'].map((name) => catalog.addRule(host(`${name}.example`))));
      expect((await directory.rules(workspace)).map((rule) => rule.host ?? rule.path)).toEqual([
        'a.example',
        '/tmp',
        'b.example',
        'c.example',
        'd.example',
      ]);
    });

    it('appends several rules together or none', async () => {
      await catalog.addRule(host('a.example'), host('b.example'), host('a.example'));
      expect((await directory.rules(workspace)).map((rule) => rule.host)).toEqual(['a.example', 'b.example']);
      expect((await catalog.get('policy', policyDocument)).version).toBe(1);
      await expect(catalog.addRule(host('c.example'), { decision: 'allow' })).rejects.toMatchObject({ code: 'invalid_request' });
      expect(await directory.rules(workspace)).toHaveLength(2);
    });

    it('does not have the known hosts, which apply at once like rules', async () => {
      await catalog.knowHosts(['a.example', 'b.example:8443']);
      await catalog.knowHosts(['a.example']);
      const known = ['a.example', 'b.example:8443'].map((name) => ({ ...host(name), note: 'it is a known host' }));
      expect(await directory.rules(workspace)).toEqual(known);
      await expect(catalog.get('policy', policyDocument)).rejects.toMatchObject({ code: 'not_found' });
      const { items } = await catalog.list('known-host', { limit: 10 });
      expect(items.map(({ name, version }) => [name, version])).toEqual([
        ['a.example', 1],
        ['b.example:8443', 1],
      ]);
      await catalog.remove('known-host', 'a.example');
      expect(await directory.rules(workspace)).toEqual(known.slice(1));
      await catalog.knowHosts(['a.example']);
      expect(await directory.rules(workspace)).toEqual(known);
      await expect(catalog.put('known-host', '*.example', {})).rejects.toMatchObject({ code: 'invalid_request' });
    });

    it('has a limited number of rules', async () => {
      const rules = Array.from({ length: limits.maxPolicyRules }, (_, index) => host(`h${index}.example`));
      await catalog.put('policy', policyDocument, { rules });
      await catalog.addRule(host('h0.example'));
      await expect(catalog.addRule(host('more.example'))).rejects.toMatchObject({ code: 'conflict' });
      await expect(catalog.put('policy', policyDocument, { rules: [...rules, host('more.example')] })).rejects.toMatchObject({
        code: 'invalid_request',
      });
    });
  });
}
