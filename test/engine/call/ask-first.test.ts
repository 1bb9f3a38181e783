/** The policy guard of the built-in tools, through `callTool`: real tools, real files, a fake network. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { compileEdition } from '../../../src/core/toolset/edition.ts';
import { isInside, resolvePath } from '../../../src/core/text/path.ts';
import { PolicyRule } from '../../../src/core/policy/rule.ts';
import { contentText } from '../../../src/core/tools/tool.ts';
import { Toolset } from '../../../src/core/toolset/toolset.ts';
import { callTool } from '../../../src/engine/call/call-tool.ts';
import type { CallDeps, CallScope } from '../../../src/engine/call/call-scope.ts';
import { createGuard, refusedUrl } from '../../../src/net/guard.ts';
import { createOutbound } from '../../../src/net/outbound.ts';
import { createMemoryFiles } from '../../../src/storage/files/memory-files.ts';
import { createCodeExecutor } from '../../../src/tools/executor.ts';
import { codeTools, toolDefinitions } from '../../../src/tools/registry.ts';
import { describeCorpus, readJsonLines } from '../../fixtures.ts';
import { countedIds, keptLog } from '../../fakes/runtime.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { callWith, yesTo, type How } from '../approve.ts';
import { runs } from '../../selection.ts';

const definitions = new Map(toolDefinitions().map((tool) => [tool.canonical as string, tool]));
const known = { get: (name: string) => definitions.get(name), all: () => definitions.values(), hasServer: () => true };
const compiled = (approval?: string) =>
  compileEdition({
    workspace: 'default',
    name: 'demo',
    toolset: Toolset.parse({ tools: [...definitions.keys()].map((tool) => ({ tool, aliases: [], ...(approval && { approval }) })) }),
    known,
  });
const editions = { policy: await compiled(), never: await compiled('never'), always: await compiled('always') };

type Network = Record<string, () => Response>;

/** Runs calls over files the caller stored: `a.txt`, `b.txt` and `d/x`. `answers`: the network by URL; `known`: the allowed hosts. */
function door(
  options: { answers?: Network; known?: string[]; entry?: keyof typeof editions; rules?: object[]; canWait?: boolean; own?: boolean } = {},
) {
  const files = createMemoryFiles(() => 0);
  for (const path of ['a.txt', 'b.txt', 'd/x'])
    files.write(`/workspace/${path}`, new TextEncoder().encode(`${path}\n`), { own: options.own ?? false });
  const sent: string[] = [];
  const [log, ids] = [keptLog(), countedIds()];
  const guarded = { allowPrivateHosts: ['internal.example:*', '10.0.0.7:*'], publicUrl: null };
  const guard = createGuard(guarded);
  const outbound = createOutbound(guarded, async (request) => {
    sent.push(`${request.method} ${request.url}`);
    return (options.answers?.[request.url] ?? (() => new Response('ok')))();
  });
  const deps: CallDeps = {
    clock: systemClock,
    log,
    executor: createCodeExecutor(codeTools()),
    fetch: (request, signal, onHop) => outbound(request, { purpose: 'tool', signal, ...(onHop && { onHop }) }),
    isBlockedUrl: (url) => refusedUrl(guard, url),
    secret: () => Promise.reject(new Error('no secrets here')),
  };
  const rules = [...(options.known ?? []).map((host) => ({ kind: 'network', host })), ...(options.rules ?? [])];
  const names = buildAliasMap(editions[options.entry ?? 'policy'].edition, { aliases: true });
  const scope: CallScope = {
    keyId: 'root',
    session: 's1',
    turn: null,
    names: () => names,
    edition: null,
    files,
    results: null,
    timeoutMs: 30_000,
    rules: rules.map((rule) => PolicyRule.parse({ decision: 'allow', ...rule })),
    canWait: options.canWait ?? true,
    audit: () => undefined,
  };
  return {
    files,
    sent,
    log,
    /** Returns the question, or the result. */
    async call(requested: string, args: Record<string, unknown>, how: How = {}) {
      const request = { callId: ids.next('call'), requested, arguments: args };
      const outcome = await callWith(how, (more) => callTool(deps, scope, { ...request, ...more }, new AbortController().signal));
      if ('answer' in outcome) {
        const { result } = outcome.answer;
        return { asked: null, yes: undefined, code: result.code, isError: result.isError, text: contentText(result.content) };
      }
      const { waitFor } = outcome;
      const asked = waitFor.kind === 'approval' ? waitFor.ask : null;
      return { asked, yes: waitFor.kind === 'approval' ? yesTo(waitFor) : undefined, isError: false, text: '', code: undefined };
    },
  };
}

const pathsBefore = ['/', '/tmp', '/workspace', '/workspace/a.txt', '/workspace/b.txt', '/workspace/d', '/workspace/d/x'];

describe('files', () => {
  it.each([
    ['echo x > /tmp/y', '/tmp/y'],
    ['echo x >> ../y', '/y'],
    ['cp a.txt /tmp', '/tmp/a.txt'],
    ['cp -r d /opt', '/opt'],
    ['mv a.txt /tmp/z', '/tmp/z'],
    ['cat a.txt | tee /tmp/t', '/tmp/t'],
    ['mkdir -p /opt/x', '/opt/x'],
    ['touch /srv', '/srv'],
    ['chmod 777 /tmp', '/tmp'],
    ['cd /; echo x > w', '/w'],
    ['p=/t; echo x > "$p"mp/$(echo q)', '/tmp/q'],
    ['echo "echo x > /tmp/s" > run.sh; bash run.sh', '/tmp/s'],
    ['sort -o /tmp/o a.txt', '/tmp/o'],
  ])('are not written outside the workspace without approval: %s', async (command, target) => {
    const { call, files } = door();
    const { asked } = await call('bash', { command });
    expect(asked).toMatchObject({ kind: 'write-outside', target });
    expect(files.paths()).toEqual(pathsBefore);
  });

  it('are unchanged after a script that required approval, whatever else it did and however it handled the refusal', async () => {
    const { call, files } = door();
    const command = 'echo new > n; rm n; echo new > n; (rm b.txt) 2>/dev/null || true; echo x > /tmp/y; mv a.txt c.txt; echo done';
    expect((await call('bash', { command })).asked).toMatchObject({
      kind: 'delete-file',
      target: '/workspace/b.txt',
      effects: [{ target: '/workspace/b.txt' }, { target: '/tmp/y' }],
    });
    expect(files.paths()).toEqual(pathsBefore);
    expect((await call('bash', { command }, { approved: true })).text).toContain('done');
    expect(files.paths()).toEqual(['/', '/tmp', '/tmp/y', '/workspace', ...['c.txt', 'd', 'd/x', 'n'].map((path) => `/workspace/${path}`)]);
  });

  it('are read and listed by a script without approval', async () => {
    const { call } = door();
    for (const command of [
      'cat /etc/passwd',
      'ls -R /',
      'find / -name x',
      'rm -f nothing; rmdir nowhere; find . -name nothing -delete',
      'echo x > $TMPDIR/y; cat $TMPDIR/y',
      'mkdir -p /tmp',
    ])
      expect([command, (await call('bash', { command })).asked]).toEqual([command, null]);
  });

  it('are not affected by the internals of the shell', async () => {
    const { call } = door();
    for (const command of [
      'cat <<E\nhi\nE',
      'sort a.txt b.txt',
      'diff <(cat a.txt) <(cat b.txt)',
      'cat a.txt > /dev/null',
      'cat a.txt >> b.txt; echo x >> a.txt',
      'mkdir e; rmdir e; mkdir -p f/g; rm -r f',
      'touch a.txt; chmod 600 a.txt',
      'mv a.txt c.txt; mv d e; cp c.txt a.txt',
      'echo new > n; echo other > n; mv n m; rm m; mkdir -p q; echo 1 > q/1; rm -rf q',
      'cp a.txt copy; echo x > copy; rm copy',
    ])
      expect([command, (await call('bash', { command })).asked]).toEqual([command, null]);
  });

  it('are deleted by delete_file once approved', async () => {
    const { call, files } = door();
    expect((await call('delete_file', { path: 'a.txt' })).asked).toMatchObject({ kind: 'delete-file', target: '/workspace/a.txt' });
    expect(files.stat('/workspace/a.txt')).not.toBeNull();
    expect((await call('delete_file', { path: 'a.txt' }, { approved: true })).isError).toBe(false);
    expect(files.stat('/workspace/a.txt')).toBeNull();
  });

  it('may be written outside where a rule allows it, and nowhere else', async () => {
    const { call, files } = door({ rules: [{ kind: 'write-outside', path: '/tmp' }] });
    expect((await call('bash', { command: 'echo x > /tmp/y' })).asked).toBeNull();
    expect(files.stat('/tmp/y')).not.toBeNull();
    expect((await call('bash', { command: 'echo x > /tmp/z; echo x > /opt' })).asked).toMatchObject({ target: '/opt' });
    expect(files.stat('/tmp/z')).toBeNull();
  });

  it('require approval in every spelling of an outside path, and in no spelling of an inside one', async () => {
    const segment = fc.constantFrom('..', '.', '', 'a.txt', 'd', 'workspace', 'tmp', 'w2', '...');
    const spelling = fc
      .tuple(fc.constantFrom('/', './', '../', '/workspace/', ''), fc.array(segment, { minLength: 1, maxLength: 6 }))
      .map(([start, rest]) => `${start}${rest.join('/')}`);
    // A redirection creates its file whatever the path; the other commands may have nothing to do.
    const form = fc.constantFrom(
      { redirects: true, write: (path: string) => `echo x > '${path}'` },
      { redirects: true, write: (path: string) => `p='${path}'; echo x >> "$p"` },
      { redirects: false, write: (path: string) => `cp a.txt '${path}'` },
      { redirects: false, write: (path: string) => `echo x | tee '${path}'` },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(spelling, form), { minLength: 1, maxLength: 4 }), async (writes) => {
        const { call, files } = door({ own: true });
        const { asked } = await call('bash', { command: writes.map(([path, { write }]) => `( ${write(path)} )`).join('\n') });
        const outside = writes.flatMap(([path, { redirects }]) => {
          const resolved = resolvePath(path);
          return resolved.ok && !isInside(resolved.path) ? { path: resolved.path, redirects } : [];
        });
        if (asked !== null) expect([outside.length > 0, isInside(asked.target ?? '')]).toEqual([true, false]);
        else expect(outside.filter(({ path, redirects }) => redirects && path !== '/' && path !== '/tmp')).toEqual([]);
        const changed = files.paths().filter((path) => !isInside(path) && !pathsBefore.includes(path));
        expect(changed).toEqual([]);
      }),
      { numRuns: runs(100) },
    );
  });
});

describe('the network', () => {
  const url = 'https://new.example/x';

  it('requires approval before anything is sent, except to a known host', async () => {
    const { call, sent } = door();
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE'])
      expect((await call('http_request', { url, method })).asked).toMatchObject({ kind: 'network', target: 'new.example' });
    expect(sent).toEqual([]);
    const allowed = door({ known: ['new.example'] });
    expect((await allowed.call('http_request', { url })).text).toContain('HTTP 200');
    expect((await call('http_request', { url }, { approved: true })).text).toContain('HTTP 200');
  });

  it('requires approval for a private host that the operator allows, as for any other host', async () => {
    const { call, sent } = door();
    expect((await call('http_request', { url: 'http://10.0.0.7:9000/' })).asked).toMatchObject({ target: '10.0.0.7:9000' });
    expect(sent).toEqual([]);
  });

  it('requires no approval for a request that is refused anyway', async () => {
    const { call, sent } = door();
    for (const refused of ['http://169.254.169.254/', 'file:///etc/passwd', 'https://user:pw@new.example/', 'nonsense']) {
      const { asked, isError } = await call('http_request', { url: refused });
      expect([refused, asked, isError]).toEqual([refused, null, true]);
    }
    expect(sent).toEqual([]);
  });

  const redirecting = (to: string, status = 302): Network => ({
    'https://known.example/': () => new Response(null, { status, headers: { location: to } }),
  });

  it.each(['GET', 'HEAD'])(
    'requires approval when %s is redirected to a new host, and repeats the request once approved',
    async (method) => {
      const { call, sent } = door({ answers: redirecting('https://new.example/'), known: ['known.example'] });
      const args = { url: 'https://known.example/', method };
      const { asked, yes } = await call('http_request', args);
      expect(asked).toMatchObject({ kind: 'network', target: 'new.example' });
      expect(sent).toEqual([`${method} https://known.example/`]);
      expect((await call('http_request', args, { approved: yes ?? true })).text).toContain('HTTP 200');
      expect(sent.slice(1)).toEqual([`${method} https://known.example/`, `${method} https://new.example/`]);
    },
  );

  it('requires approval again before following a redirect to a host other than the approved one', async () => {
    const answers = redirecting('https://new.example/');
    const { call, sent } = door({ answers, known: ['known.example'] });
    const args = { url: 'https://known.example/' };
    const { asked, yes } = await call('http_request', args);
    expect(asked).toMatchObject({ target: 'new.example' });
    Object.assign(answers, redirecting('https://other.example/'));
    expect((await call('http_request', args, { approved: yes ?? true })).asked).toMatchObject({ target: 'other.example' });
    expect(sent.filter((request) => !request.includes('known.example'))).toEqual([]);
  });

  it('lists the host with the call when every call requires approval, and asks again about a redirect target', async () => {
    const { call, sent } = door({ answers: redirecting('https://new.example/'), known: ['known.example'], entry: 'always' });
    const args = { url: 'https://known.example/' };
    expect((await call('http_request', args)).asked).toMatchObject({ kind: 'always', target: null });
    expect(sent).toEqual([]);
    const again = await call('http_request', args, { approved: true });
    expect(again.asked).toMatchObject({ effects: [{ kind: 'always' }, { target: 'new.example', method: 'GET' }] });
    expect(sent).toEqual(['GET https://known.example/']);
    expect((await call('http_request', args, { approved: again.yes ?? true })).text).toContain('HTTP 200');
    expect((await call('http_request', { url: 'https://fresh.example/' }, { approved: true })).text).toContain('HTTP 200');
  });

  it.each([
    ['POST', 303],
    ['POST', 302],
    ['DELETE', 302],
    ['PUT', 307],
  ])('does not follow %s with %d to a new host, since the first request has had its effect', async (method, status) => {
    const { call, sent } = door({ answers: redirecting('https://new.example/next', status), known: ['known.example'] });
    const { asked, isError, text } = await call('http_request', { url: 'https://known.example/', method });
    expect([asked, isError]).toEqual([null, true]);
    expect(text).toMatch(/redirected to new\.example.*a separate request to https:\/\/new\.example\/next/);
    expect(sent).toEqual([`${method} https://known.example/`]);
  });

  it('requires approval again before an approved request is redirected to another new host', async () => {
    const { call, sent } = door({ answers: redirecting('https://new.example/') });
    const args = { url: 'https://known.example/' };
    expect((await call('http_request', args)).asked).toMatchObject({ target: 'known.example' });
    const { asked } = await call('http_request', args, { approved: true });
    expect(asked).toMatchObject({ effects: [{ target: 'known.example' }, { target: 'new.example' }] });
    expect(sent).toEqual(['GET https://known.example/']);
    const free = door({ answers: redirecting('https://new.example/'), entry: 'never' });
    expect((await free.call('http_request', args)).text).toContain('HTTP 200');
  });

  it('follows redirects to known hosts, and checks every hop', async () => {
    const answers = {
      ...redirecting('https://two.example/'),
      'https://two.example/': () => new Response(null, { status: 302, headers: { location: 'https://NEW.example:8443/' } }),
    };
    const { call, sent } = door({ answers, known: ['known.example', 'two.example', 'new.example'] });
    expect((await call('http_request', { url: 'https://known.example/' })).asked).toMatchObject({ target: 'new.example:8443' });
    expect(sent).toEqual(['GET https://known.example/', 'GET https://two.example/']);
  });
});

describe('the network of a script', () => {
  it.each(['curl -s https://new.example/', 'rm a.txt', 'echo x > /tmp/y'])(
    'is not used twice: an effect that requires approval after something was sent is refused: %s',
    async (command) => {
      const { call, sent, files } = door({ known: ['api.example'] });
      const post = 'curl -s -d x https://api.example/send';
      const answered = await call('bash', { command: `${post}; ${command}; echo on` });
      expect(answered).toMatchObject({
        asked: null,
        text: expect.stringContaining('cannot be requested after this call has sent POST api.example'),
      });
      expect(sent).toEqual(['POST https://api.example/send']);
      expect(files.paths()).toEqual(pathsBefore);
      // Reads may be repeated, and so may a script that requires approval before it sends.
      expect((await call('bash', { command: `curl -s https://api.example/; ${command}` })).asked).not.toBeNull();
      expect((await call('bash', { command: `${command}; ${post}` })).asked).not.toBeNull();
      expect(sent).toEqual(['POST https://api.example/send', 'GET https://api.example/']);
    },
  );
});

describe('a toolset entry', () => {
  it('with approval "never" waives approval for its own calls, and one with "always" requires it for harmless calls, too', async () => {
    const never = door({ entry: 'never' });
    expect((await never.call('bash', { command: 'echo x > /tmp/y' })).asked).toBeNull();
    expect(never.files.stat('/tmp/y')).not.toBeNull();
    expect((await never.call('delete_file', { path: 'a.txt' })).isError).toBe(false);
    const always = door({ entry: 'always', rules: [{ tool: 'builtin.list_directory' }] });
    expect((await always.call('list_directory', { path: '.' })).asked).toMatchObject({ kind: 'always' });
    expect((await always.call('list_directory', { path: '.' }, { approved: true })).isError).toBe(false);
  });

  it('returns approval_required where the call cannot wait, and logs no error', async () => {
    const { call, files, log } = door({ canWait: false });
    expect(await call('bash', { command: 'echo 1 > n; echo x > /tmp/y' })).toMatchObject({
      isError: true,
      code: 'approval_required',
      text: expect.stringMatching(/outside \/workspace: \/tmp\/y.*cannot wait/),
    });
    expect((await call('http_request', { url: 'https://new.example/' })).code).toBe('approval_required');
    expect(files.paths()).toEqual(pathsBefore);
    expect(log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describeCorpus('security/bash-hostile.jsonl', (path) => {
  type Row = { id: string; class: string; command: string; effect?: Record<string, string[]> };
  const rows = readJsonLines<Row>(path);

  // Links cannot be created, tar is missing, and the home directory is the workspace.
  const harmless = new Set(['outside-082', 'outside-083', 'outside-086', 'outside-087', 'outside-088']);
  const outside = rows.filter((row) => row.class === 'outside' || row.id === 'overwrite-073' || row.id === 'privileged-173');

  it.each(outside)('$id requires approval or changes nothing outside: $command', async ({ id, command }) => {
    const { call, files } = door();
    const { asked } = await call('bash', { command });
    expect(asked?.kind ?? null).toBe(harmless.has(id) ? null : 'write-outside');
    expect(files.paths().filter((file) => !isInside(file))).toEqual(['/', '/tmp']);
    if (asked !== null) expect(files.paths()).toEqual(pathsBefore);
  });

  it('changes nothing outside the workspace in any row', async () => {
    for (const { id, command } of rows.filter((row) => ['delete', 'overwrite', 'privileged', 'network'].includes(row.class))) {
      const { call, files, sent } = door();
      await call('bash', { command, timeout: 2000 });
      expect([id, files.paths().filter((file) => !isInside(file)), sent]).toEqual([id, ['/', '/tmp'], []]);
    }
  });
});

describeCorpus('security/path-cases.jsonl', (path) => {
  type Row = { id: string; class: string; root: string; cwd: string; input: string; expect: 'inside' | 'outside' | 'reject' };
  const rows = readJsonLines<Row>(path).filter((row) => row.class !== 'symlink' && row.root === '/workspace' && row.cwd === '/workspace');

  it.each(rows.filter((row) => row.expect === 'outside'))('$id requires approval before a write or delete: $input', async ({ input }) => {
    const { call, files } = door();
    // Directories are not written, and missing files are not deleted.
    const resolved = resolvePath(input);
    const isFolder = resolved.ok && files.stat(resolved.path) !== null;
    expect((await call('write_file', { path: input, content: '' })).asked?.kind ?? null).toBe(isFolder ? null : 'write-outside');
    expect(files.paths()).toEqual(pathsBefore);
    if (!isFolder && resolved.ok) files.write(resolved.path, new Uint8Array([1]));
    const before = files.paths();
    expect((await call('delete_file', { path: input })).asked?.kind ?? null).toBe(isFolder ? null : 'delete-file');
    expect(files.paths()).toEqual(before);
  });

  it('requires no approval for paths inside the workspace and for invalid paths', async () => {
    expect(rows.length).toBeGreaterThan(50);
    for (const { id, input } of rows.filter((row) => row.expect !== 'outside' && row.input !== ''))
      expect([id, (await door({ own: true }).call('write_file', { path: input, content: '' })).asked]).toEqual([id, null]);
  });
});
