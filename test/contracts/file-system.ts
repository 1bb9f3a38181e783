/** The contract of every implementation of a session's files. Run by each implementation's test. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import type { FileSystem } from '../../src/ports/file-system.ts';
import { maxOverlayBytes } from '../../src/storage/files/file-overlay.ts';
import { runs } from '../selection.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (content: Uint8Array): string => new TextDecoder().decode(content);

/** `create` returns an empty file system whose clock is `now()`. */
export function fileSystemContract(name: string, create: (now: () => number) => FileSystem): void {
  describe(`${name} as a file system`, () => {
    const fresh = (): FileSystem => create(() => 1000);

    it('starts with a root, a home and a directory for scratch files, all empty', () => {
      const files = fresh();
      expect(files.list('/').map((entry) => entry.name)).toEqual(['tmp', 'workspace']);
      expect(files.list('/workspace')).toEqual([]);
      expect(files.stat('/workspace')?.kind).toBe('directory');
      expect(files.paths()).toEqual(['/', '/tmp', '/workspace']);
    });

    it('returns what was written, and replaces all of it', () => {
      const files = fresh();
      files.write('/workspace/a.txt', bytes('hello world'));
      files.write('/workspace/a.txt', bytes('hi'));
      expect(text(files.read('/workspace/a.txt'))).toBe('hi');
      expect(files.stat('/workspace/a.txt')).toMatchObject({ kind: 'file', size: 2, modifiedAt: 1000, mode: 0o644 });
    });

    it('is emptied as a whole, or within a permanent folder', () => {
      const files = fresh();
      const fill = (): void => {
        for (const path of ['/workspace/a', '/workspace/d/b', '/tmp/t', '/opt/x']) files.write(path, bytes('1'));
      };
      fill();
      files.remove('/workspace', { recursive: true });
      expect(files.paths()).toEqual(['/', '/opt', '/opt/x', '/tmp', '/tmp/t', '/workspace']);
      fill();
      const overlay = files.overlay();
      overlay.remove('/', { recursive: true });
      expect(overlay.paths()).toEqual(['/', '/tmp', '/workspace']);
      overlay.commit();
      expect(files.paths()).toEqual(['/', '/tmp', '/workspace']);
      files.write('/workspace/again', bytes('1'));
      expect(files.list('/workspace').map(({ name }) => name)).toEqual(['again']);
    });

    it("records whether the content of a file is the session's own", () => {
      const files = fresh();
      const own = (path: string) => files.stat(`/workspace/${path}`)?.own;
      files.write('/workspace/mine', bytes('1'));
      files.append('/workspace/added', bytes('1'));
      files.write('/workspace/given', bytes('given'), { own: false });
      expect([own('mine'), own('added'), own('given')]).toEqual([true, true, false]);
      files.append('/workspace/given', bytes('!'));
      files.setMode('/workspace/given', 0o600);
      files.rename('/workspace/given', '/workspace/d');
      files.write('/workspace/d', bytes('given!'));
      expect(own('d')).toBe(false);
      files.write('/workspace/d', bytes('other!'));
      expect(own('d')).toBe(true);
      files.write('/workspace/mine', bytes('1'), { own: false });
      expect(own('mine')).toBe(false);
    });

    it('shares no buffers with its callers', () => {
      const files = fresh();
      const buffer = bytes('abc');
      files.write('/workspace/a', buffer);
      buffer[0] = 0;
      files.read('/workspace/a')[1] = 0;
      expect(text(files.read('/workspace/a'))).toBe('abc');
    });

    it('creates missing parents on write, but for a directory only if requested', () => {
      const files = fresh();
      files.write('/workspace/x/y/z.txt', bytes('1'));
      expect(files.stat('/workspace/x/y')?.kind).toBe('directory');
      expect(() => files.makeDirectory('/workspace/p/q')).toThrow(expect.objectContaining({ code: 'ENOENT' }));
      files.makeDirectory('/workspace/p/q', { recursive: true });
      files.makeDirectory('/workspace/p/q', { recursive: true });
      expect(() => files.makeDirectory('/workspace/p/q')).toThrow(expect.objectContaining({ code: 'EEXIST' }));
      expect(files.paths()).toContain('/workspace/p');
    });

    it('appends pieces of any size', () => {
      fc.assert(
        fc.property(fc.array(fc.uint8Array({ maxLength: 6000 }), { maxLength: 12 }), (pieces) => {
          const files = fresh();
          for (const piece of pieces) files.append('/workspace/log', piece);
          const whole = pieces.flatMap((piece) => [...piece]);
          if (pieces.length === 0) return;
          expect([...files.read('/workspace/log')]).toEqual(whole);
          expect(files.stat('/workspace/log')?.size).toBe(whole.length);
        }),
        { numRuns: 30 },
      );
    });

    it('stores files larger than one stored piece', () => {
      const files = fresh();
      const content = new Uint8Array(limits.storageChunkBytes * 2 + 5).map((_, index) => index % 251);
      files.write('/workspace/big', content);
      expect(Buffer.compare(files.read('/workspace/big'), content)).toBe(0);
      files.write('/workspace/big', bytes('small'));
      expect(text(files.read('/workspace/big'))).toBe('small');
    });

    it('lists direct children only, sorted, with their sizes', () => {
      const files = fresh();
      for (const path of ['b', 'a/deep/er', 'c', 'a!', 'B', 'a/x']) files.write(`/workspace/${path}`, bytes('123'));
      expect(files.list('/workspace')).toEqual(
        ['B', 'a', 'a!', 'b', 'c'].map((entry) => ({
          name: entry,
          kind: entry === 'a' ? 'directory' : 'file',
          size: entry === 'a' ? 0 : 3,
          modifiedAt: 1000,
        })),
      );
    });

    it('reports what is wrong with a path', () => {
      const files = fresh();
      files.write('/workspace/file', bytes('1'));
      files.write('/workspace/dir/inner', bytes('1'));
      const faults: [() => unknown, string][] = [
        [() => files.read('/workspace/none'), 'ENOENT'],
        [() => files.read('/workspace/dir'), 'EISDIR'],
        [() => files.read('/workspace/file/x'), 'ENOTDIR'],
        [() => files.write('/workspace/dir', bytes('')), 'EISDIR'],
        [() => files.write('/workspace/file/x/y', bytes('')), 'ENOTDIR'],
        [() => files.append('/workspace/dir', bytes('')), 'EISDIR'],
        [() => files.list('/workspace/file'), 'ENOTDIR'],
        [() => files.list('/workspace/none'), 'ENOENT'],
        [() => files.remove('/workspace/none'), 'ENOENT'],
        [() => files.remove('/workspace/dir'), 'ENOTEMPTY'],
        [() => files.remove('/workspace'), 'EPERM'],
        [() => files.remove('/'), 'EPERM'],
        [() => files.setMode('/workspace/none', 0o600), 'ENOENT'],
        [() => files.setModifiedAt('/workspace/none', 1), 'ENOENT'],
        [() => files.write('/workspace/huge', new Uint8Array(limits.maxFileBytes + 1)), 'EFBIG'],
      ];
      for (const [act, code] of faults) expect(act).toThrow(expect.objectContaining({ name: 'FileError', code }));
      expect(files.paths()).toEqual(['/', '/tmp', '/workspace', '/workspace/dir', '/workspace/dir/inner', '/workspace/file']);
    });

    it('removes a file, an empty directory, and with `recursive` a full one', () => {
      const files = fresh();
      files.write('/workspace/a/b/c', bytes('1'));
      files.write('/workspace/a0', bytes('stays'));
      files.makeDirectory('/workspace/empty');
      files.remove('/workspace/empty');
      files.remove('/workspace/a', { recursive: true });
      expect(files.paths()).toEqual(['/', '/tmp', '/workspace', '/workspace/a0']);
      files.write('/workspace/a', bytes('new'));
      expect(text(files.read('/workspace/a'))).toBe('new');
    });

    it('renames files and whole directories', () => {
      const files = fresh();
      files.write('/workspace/a/b/c', bytes('deep'));
      files.write('/workspace/a/d', bytes('d'));
      files.write('/workspace/ab', bytes('beside'));
      files.rename('/workspace/a', '/workspace/z');
      expect(text(files.read('/workspace/z/b/c'))).toBe('deep');
      expect(files.list('/workspace').map((entry) => entry.name)).toEqual(['ab', 'z']);
      files.rename('/workspace/ab', '/workspace/z/d');
      expect(text(files.read('/workspace/z/d'))).toBe('beside');
      files.rename('/workspace/z', '/workspace/z');
      expect(files.stat('/workspace/z/b')).not.toBeNull();
    });

    it('rejects invalid renames', () => {
      const files = fresh();
      files.write('/workspace/a/b', bytes('1'));
      files.write('/workspace/f', bytes('1'));
      const faults: [string, string, string][] = [
        ['/workspace/none', '/workspace/x', 'ENOENT'],
        ['/workspace/f', '/workspace/no/x', 'ENOENT'],
        ['/workspace/a', '/workspace/a/b/c', 'EINVAL'],
        ['/workspace/f', '/workspace/a', 'EISDIR'],
        ['/workspace/a', '/workspace/f', 'ENOTDIR'],
        ['/workspace', '/x', 'EPERM'],
      ];
      for (const [from, to, code] of faults)
        expect(() => files.rename(from, to), `${from} ${to}`).toThrow(expect.objectContaining({ code }));
    });

    it('keeps mode and time as set', () => {
      const files = fresh();
      files.write('/workspace/s', bytes('1'), { mode: 0o755, modifiedAt: 5 });
      expect(files.stat('/workspace/s')).toMatchObject({ mode: 0o755, modifiedAt: 5 });
      files.write('/workspace/s', bytes('2'));
      expect(files.stat('/workspace/s')).toMatchObject({ mode: 0o755, modifiedAt: 1000 });
      files.setMode('/workspace/s', 0o600);
      files.setModifiedAt('/workspace/s', 7);
      expect(files.stat('/workspace/s')).toMatchObject({ mode: 0o600, modifiedAt: 7, size: 1 });
      expect(text(files.read('/workspace/s'))).toBe('2');
      files.setMode('/', 0o700);
      expect(files.list('/').map((entry) => entry.name)).toEqual(['tmp', 'workspace']);
    });

    it('limits the number of files and their total size', () => {
      const files = fresh();
      for (let index = 0; index < limits.maxSessionFiles; index += 1) files.write(`/workspace/${index}`, new Uint8Array());
      expect(() => files.write('/workspace/one-more', new Uint8Array())).toThrow(expect.objectContaining({ code: 'ENOSPC' }));
      files.remove('/workspace/7');
      files.write('/workspace/one-more', new Uint8Array());
      const full = fresh();
      const block = new Uint8Array(limits.maxFileBytes);
      for (let used = 0; used < limits.maxSessionFilesBytes; used += block.byteLength) full.write(`/tmp/${used}`, block);
      expect(() => full.append('/tmp/0x', bytes('1'))).toThrow(expect.objectContaining({ code: 'ENOSPC' }));
      full.write('/tmp/0', bytes('smaller'));
      full.write('/tmp/0x', bytes('1'));
    });

    describe('an overlay', () => {
      it('shows its changes at once, and in the base after the commit', () => {
        const files = fresh();
        files.write('/workspace/a', bytes('1'));
        files.write('/workspace/d/b', bytes('2'));
        const overlay = files.overlay();
        overlay.append('/workspace/a', bytes('+'));
        overlay.write('/workspace/new/deep', bytes('3'), { mode: 0o755 });
        overlay.remove('/workspace/d', { recursive: true });
        expect(text(overlay.read('/workspace/a'))).toBe('1+');
        expect(overlay.paths()).toEqual(['/', '/tmp', '/workspace', '/workspace/a', '/workspace/new', '/workspace/new/deep']);
        expect(overlay.list('/workspace').map((entry) => entry.name)).toEqual(['a', 'new']);
        expect(text(files.read('/workspace/a'))).toBe('1');
        expect(files.paths()).toEqual(['/', '/tmp', '/workspace', '/workspace/a', '/workspace/d', '/workspace/d/b']);
        overlay.commit();
        expect(text(files.read('/workspace/a'))).toBe('1+');
        expect(files.stat('/workspace/new/deep')).toMatchObject({ size: 1, mode: 0o755 });
        expect(files.stat('/workspace/d')).toBeNull();
      });

      it('has no effect when it is dropped', () => {
        const files = fresh();
        files.write('/workspace/a', bytes('1'));
        const overlay = files.overlay();
        overlay.rename('/workspace/a', '/workspace/b');
        overlay.write('/workspace/c', bytes('2'));
        expect([files.paths(), text(files.read('/workspace/a'))]).toEqual([['/', '/tmp', '/workspace', '/workspace/a'], '1']);
      });

      it('allows files and directories to swap places', () => {
        const files = fresh();
        const big = new Uint8Array(limits.storageChunkBytes + 5).fill(7);
        files.write('/workspace/a', big);
        files.write('/workspace/b', bytes('b'));
        files.write('/workspace/dir/x', bytes('x'));
        const overlay = files.overlay();
        overlay.rename('/workspace/a', '/workspace/t');
        overlay.rename('/workspace/b', '/workspace/a');
        overlay.rename('/workspace/t', '/workspace/b');
        overlay.append('/workspace/b', bytes('!'));
        overlay.rename('/workspace/dir', '/workspace/t');
        overlay.write('/workspace/dir', bytes('a file now'));
        overlay.commit();
        expect(text(files.read('/workspace/a'))).toBe('b');
        expect(files.read('/workspace/b')).toEqual(Uint8Array.from([...big, 33]));
        expect(text(files.read('/workspace/t/x'))).toBe('x');
        expect(text(files.read('/workspace/dir'))).toBe('a file now');
        expect(files.paths()).toEqual(['/', '/tmp', '/workspace', ...['a', 'b', 'dir', 't', 't/x'].map((path) => `/workspace/${path}`)]);
      });

      it('keeps appends of both sides, and the later of two writes', () => {
        const files = fresh();
        files.write('/workspace/log', bytes('0'));
        files.write('/workspace/w', bytes('0'));
        const overlay = files.overlay();
        overlay.append('/workspace/log', bytes('mine'));
        overlay.write('/workspace/w', bytes('mine'));
        files.append('/workspace/log', bytes('yours'));
        files.write('/workspace/w', bytes('yours'));
        files.write('/workspace/other', bytes('1'));
        overlay.commit();
        expect(['log', 'w', 'other'].map((name) => text(files.read(`/workspace/${name}`)))).toEqual(['0yoursmine', 'mine', '1']);
        expect(files.stat('/workspace/log')?.size).toBe(10);
      });

      it('commits nothing if changes made meanwhile conflict', () => {
        const clashes: [(files: FileSystem) => void, (files: FileSystem) => void][] = [
          [(mine) => mine.append('/workspace/a', bytes('1')), (yours) => yours.remove('/workspace/a')],
          [(mine) => mine.rename('/workspace/a', '/workspace/z'), (yours) => yours.remove('/workspace/a')],
          [(mine) => mine.write('/workspace/d/new', bytes('1')), (yours) => yours.remove('/workspace/d', { recursive: true })],
          [(mine) => mine.remove('/workspace/d', { recursive: true }), (yours) => yours.write('/workspace/d/yours', bytes('1'))],
          [(mine) => mine.write('/workspace/n', bytes('1')), (yours) => yours.write('/workspace/n/yours', bytes('1'))],
          [(mine) => mine.write('/workspace/n/mine', bytes('1')), (yours) => yours.write('/workspace/n', bytes('1'))],
        ];
        for (const [index, [mine, yours]] of clashes.entries()) {
          const files = fresh();
          files.write('/workspace/a', bytes('a'));
          files.write('/workspace/d/b', bytes('b'));
          const overlay = files.overlay();
          overlay.write('/workspace/first', bytes('1'));
          mine(overlay);
          yours(files);
          const before = files.paths();
          expect(() => overlay.commit(), `clash ${index}`).toThrow(expect.objectContaining({ name: 'FileError' }));
          expect(files.paths()).toEqual(before);
        }
      });

      it('marks what was created in it, also after moves, and no longer after the commit', () => {
        const files = fresh();
        for (const path of ['given', 'old/x']) files.write(`/workspace/${path}`, bytes('1'), { own: false });
        const overlay = files.overlay();
        const isFresh = (path: string) => overlay.stat(`/workspace/${path}`)?.fresh === true;
        overlay.write('/workspace/d/new', bytes('1'));
        overlay.append('/workspace/log', bytes('1'));
        overlay.append('/workspace/given', bytes('1'));
        overlay.rename('/workspace/d', '/workspace/e');
        overlay.rename('/workspace/old', '/workspace/e/old');
        expect(['e', 'e/new', 'log', 'given', 'e/old', 'e/old/x'].map(isFresh)).toEqual([true, true, true, false, false, false]);
        const nested = overlay.overlay();
        nested.write('/workspace/log', bytes('2'));
        nested.write('/workspace/deeper', bytes('1'));
        nested.rename('/workspace/given', '/workspace/carried');
        nested.commit();
        expect(['log', 'deeper', 'carried'].map(isFresh)).toEqual([true, true, false]);
        overlay.commit();
        expect(files.stat('/workspace/e/new')).toEqual({ ...files.stat('/workspace/log'), path: '/workspace/e/new' });
        expect(files.stat('/workspace/log')).not.toHaveProperty('fresh');
        expect(files.stat('/workspace/e/old/x')?.own).toBe(false);
      });

      it('does not replace what the caller stored meanwhile', () => {
        for (const act of ['write', 'remove'] as const) {
          const files = fresh();
          files.write('/workspace/a', bytes('1'));
          const overlay = files.overlay();
          if (act === 'write') overlay.write('/workspace/a', bytes('2'));
          else overlay.remove('/workspace/a');
          files.write('/workspace/a', bytes('the caller’s'), { own: false });
          expect(() => overlay.commit()).toThrow(expect.objectContaining({ name: 'FileError' }));
          expect(text(files.read('/workspace/a'))).toBe('the caller’s');
        }
      });

      it('has a limited size, and respects the limits of the session', () => {
        const files = fresh();
        const overlay = files.overlay();
        const block = new Uint8Array(limits.maxFileBytes);
        for (let held = 0; held < maxOverlayBytes; held += block.byteLength) overlay.write(`/workspace/${held}`, block);
        expect(() => overlay.append('/workspace/0x', bytes('1'))).toThrow(expect.objectContaining({ code: 'ENOSPC' }));
        overlay.remove('/workspace/0');
        overlay.append('/workspace/0x', bytes('1'));
        const crowded = fresh();
        const late = crowded.overlay();
        late.write('/workspace/late', bytes('1'));
        for (let index = 0; index < limits.maxSessionFiles; index += 1) crowded.write(`/workspace/${index}`, new Uint8Array());
        expect(() => crowded.overlay().write('/workspace/one-more', new Uint8Array())).toThrow(expect.objectContaining({ code: 'ENOSPC' }));
        expect(() => late.commit()).toThrow(expect.objectContaining({ code: 'ENOSPC' }));
      });

      it('has the same result as without it, for any operations', () => {
        const path = fc.constantFrom(...['a', 'b', 'a/c', 'a/c/d', 'b/d/e', 'f'].map((name) => `/workspace/${name}`), '/tmp/f');
        const step = fc.oneof(
          fc.record({ kind: fc.constantFrom('write' as const, 'append' as const), path, content: fc.string({ maxLength: 8 }) }),
          fc.record({ kind: fc.constantFrom('remove' as const, 'mkdir' as const, 'mode' as const), path }),
          fc.record({ kind: fc.constant('rename' as const), path, to: path }),
        );
        type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
        const act = (files: FileSystem, done: Step): string => {
          try {
            if (done.kind === 'write') files.write(done.path, bytes(done.content));
            else if (done.kind === 'append') files.append(done.path, bytes(done.content));
            else if (done.kind === 'remove') files.remove(done.path, { recursive: true });
            else if (done.kind === 'mkdir') files.makeDirectory(done.path);
            else if (done.kind === 'rename') files.rename(done.path, done.to);
            else files.setMode(done.path, 0o700);
            return 'done';
          } catch (error) {
            return (error as { code: string }).code;
          }
        };
        const shown = (files: FileSystem) =>
          files.paths().map((entry) => {
            const { fresh: _fresh, ...stat } = files.stat(entry) ?? { kind: null };
            return [entry, stat, stat.kind === 'file' ? text(files.read(entry)) : files.list(entry)];
          });
        fc.assert(
          fc.property(fc.array(fc.array(step, { maxLength: 12 }), { maxLength: 4 }), (scripts) => {
            const [plain, layered] = [fresh(), fresh()];
            for (const script of scripts) {
              const overlay = layered.overlay();
              for (const done of script) expect(act(overlay, done)).toBe(act(plain, done));
              expect(shown(overlay)).toEqual(shown(plain));
              overlay.commit();
              expect(shown(layered)).toEqual(shown(plain));
            }
          }),
          { numRuns: runs(150) },
        );
      });
    });

    it('agrees with a plain map of paths after any sequence of writes, removals and renames', () => {
      const path = fc.constantFrom('/workspace/a', '/workspace/b', '/workspace/a/c', '/workspace/b/d/e', '/tmp/f');
      const step = fc.oneof(
        fc.record({ kind: fc.constant('write' as const), path, content: fc.string({ maxLength: 8 }) }),
        fc.record({ kind: fc.constant('remove' as const), path }),
        fc.record({ kind: fc.constant('rename' as const), path, to: path }),
      );
      fc.assert(
        fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
          const files = fresh();
          const model = new Map<string, string>();
          for (const act of steps) {
            try {
              if (act.kind === 'write') files.write(act.path, bytes(act.content));
              else if (act.kind === 'remove') files.remove(act.path, { recursive: true });
              else files.rename(act.path, act.to);
            } catch (error) {
              expect(error).toMatchObject({ name: 'FileError' });
              continue;
            }
            const beneath = [...model.keys()].filter((key) => key === act.path || key.startsWith(`${act.path}/`));
            if (act.kind === 'write') model.set(act.path, act.content);
            else if (act.kind === 'remove') for (const key of beneath) model.delete(key);
            else if (act.path !== act.to) {
              for (const key of beneath) {
                model.set(act.to + key.slice(act.path.length), model.get(key) ?? '');
                model.delete(key);
              }
            }
          }
          const stored = files.paths().filter((entry) => files.stat(entry)?.kind === 'file');
          expect(stored.map((entry) => [entry, text(files.read(entry))])).toEqual([...model].sort(([a], [b]) => (a < b ? -1 : 1)));
        }),
        { numRuns: runs(60) },
      );
    });
  });
}
