/** The files of a session in the SQLite of a real Durable Object, and the shell over them in the Workers runtime. */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { schemaSteps } from '../../../src/objects/shared/migrate.ts';
import { createSessionFiles, sessionFilesSchema } from '../../../src/storage/files/session-files.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import type { FileSystem } from '../../../src/ports/file-system.ts';
import { toolBench } from '../../tools/run-tool.ts';

/** Runs work inside a new object, over its files. */
async function inObject<Value>(work: (files: FileSystem, sql: SqlStorage) => Value | Promise<Value>): Promise<Value> {
  const stub = env.SESSION.get(env.SESSION.newUniqueId());
  return await runInDurableObject(stub, async (_object, state) => {
    for (const statement of schemaSteps(sessionFilesSchema)) state.storage.sql.exec(statement);
    return await work(
      createSessionFiles(state.storage.sql, () => 1000),
      state.storage.sql,
    );
  });
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("a session's files in its Durable Object", () => {
  it('come back byte for byte, also when larger than one value', async () => {
    await inObject((files, sql) => {
      const content = new Uint8Array(limits.storageChunkBytes * 2 + 7).map((_, index) => index % 253);
      files.write('/workspace/big', content);
      const back = createSessionFiles(sql).read('/workspace/big');
      expect(back.byteLength).toBe(content.byteLength);
      expect(back.every((byte, index) => byte === content[index])).toBe(true);
    });
  });

  it('append, rename, list and remove according to the contract', async () => {
    await inObject((files) => {
      for (let index = 0; index < 300; index += 1) files.append('/workspace/d/log', bytes(`line ${index}\n`));
      files.write('/workspace/d/e/žluť 🐎', bytes('x'));
      files.rename('/workspace/d', '/workspace/moved');
      expect(new TextDecoder().decode(files.read('/workspace/moved/log')).split('\n')).toHaveLength(301);
      expect(files.list('/workspace/moved').map((entry) => entry.name)).toEqual(['e', 'log']);
      expect(files.list('/workspace/moved/e').map((entry) => entry.name)).toEqual(['žluť 🐎']);
      files.remove('/workspace/moved', { recursive: true });
      expect(files.paths()).toEqual(['/', '/tmp', '/workspace']);
    });
  });

  it('are the files of the shell in this runtime too', async () => {
    await inObject(async (files) => {
      const { run } = toolBench({ files });
      const first = await run('builtin.bash', {
        command:
          'seq 1 5 | awk "{s+=\\$1} END {print s}" > sum; cat sum; gzip -k sum; gunzip -c sum.gz | wc -c; echo \'{"a":[1,2]}\' | jq -c .a',
      });
      expect(first.structuredContent).toEqual({ stdout: '15\n3\n[1,2]\n', stderr: '', exitCode: 0 });
      expect(new TextDecoder().decode(files.read('/workspace/sum'))).toBe('15\n');
      expect(await run('builtin.bash', { command: 'while :; do :; done' })).toMatchObject({ code: 'limit_reached' });
      expect(await run('builtin.bash', { command: 'sleep 100', timeout: 30 })).toMatchObject({ code: 'timeout' });
      // Few rounds: this test runner maps a stack trace for every command, which takes a hundred times as long as the command.
      const many = await run('builtin.bash', { command: 'for i in 1 2 3 4 5; do echo $i >> log; done; wc -l log' });
      expect(many.structuredContent).toMatchObject({ stdout: '5 log\n' });
    });
  });
});
