import { describe, expect, it } from 'vitest';
import { readSkill } from '../../../src/formats/read-skill.ts';
import { createMemoryFiles } from '../../../src/storage/files/memory-files.ts';
import { withSkillFiles } from '../../../src/storage/files/skill-files.ts';
import { fileSystemContract } from '../../contracts/file-system.ts';
import { put, toolBench } from '../../tools/run-tool.ts';

const { skill } = readSkill('pdf', {
  content: '---\nname: pdf\ndescription: x\n---\nDo it.\n',
  resources: [
    { path: 'scripts/run.sh', text: '#!/bin/bash\necho "ran with $1"\n' },
    { path: 'data.bin', base64: 'AP8B' },
  ],
});

function layered() {
  const own = createMemoryFiles(() => 1000);
  return { own, files: withSkillFiles(own, [skill]) };
}
const text = (content: Uint8Array): string => new TextDecoder().decode(content);

// Without skills it is the given file system itself.
fileSystemContract('files without skills', (now) => withSkillFiles(createMemoryFiles(now), []));

describe('files of skills', () => {
  it('are under /skills, and the rest of the session is unchanged', () => {
    const { own, files } = layered();
    put(files, '/workspace/a.txt', 'a');
    expect(text(own.read('/workspace/a.txt'))).toBe('a');
    expect(files.list('/').map(({ name }) => name)).toEqual(['skills', 'tmp', 'workspace']);
    expect(files.list('/skills')).toEqual([{ name: 'pdf', kind: 'directory', size: 0, modifiedAt: 0 }]);
    expect(files.list('/skills/pdf').map(({ name, kind }) => `${kind} ${name}`)).toEqual([
      'file SKILL.md',
      'file data.bin',
      'directory scripts',
    ]);
    expect([...files.read('/skills/pdf/data.bin')]).toEqual([0, 255, 1]);
    expect(files.paths()).toEqual([
      '/',
      '/skills',
      '/skills/pdf',
      '/skills/pdf/SKILL.md',
      '/skills/pdf/data.bin',
      '/skills/pdf/scripts',
      '/skills/pdf/scripts/run.sh',
      '/tmp',
      '/workspace',
      '/workspace/a.txt',
    ]);
    expect(own.paths()).toEqual(['/', '/tmp', '/workspace', '/workspace/a.txt']);
  });

  it('hide what a session itself has there, without changing it', () => {
    const { own, files } = layered();
    put(own, '/skills/pdf/mine.txt', 'x');
    expect(files.stat('/skills/pdf/mine.txt')).toBeNull();
    expect(files.list('/').filter(({ name }) => name === 'skills')).toHaveLength(1);
    expect(text(own.read('/skills/pdf/mine.txt'))).toBe('x');
  });

  it.each([
    ['write', (files: ReturnType<typeof layered>['files']) => put(files, '/skills/pdf/SKILL.md', 'x')],
    ['write anew', (files) => put(files, '/skills/other/x', 'x')],
    ['append', (files) => files.append('/skills/pdf/SKILL.md', new Uint8Array(1))],
    ['make a directory', (files) => files.makeDirectory('/skills/new', { recursive: true })],
    ['remove', (files) => files.remove('/skills/pdf', { recursive: true })],
    ['move away', (files) => files.rename('/skills/pdf/SKILL.md', '/workspace/x')],
    ['move there', (files) => files.rename('/workspace', '/skills/pdf/x')],
    ['set the mode', (files) => files.setMode('/skills/pdf/SKILL.md', 0o777)],
    ['set the time', (files) => files.setModifiedAt('/skills/pdf', 0)],
  ])('are read-only: %s', (_what, change) => {
    const { files } = layered();
    expect(() => change(files)).toThrow(
      expect.objectContaining({ code: 'EROFS', message: expect.stringContaining('Copy the file to /workspace') }),
    );
    expect(() => change(files.overlay())).toThrow(expect.objectContaining({ code: 'EROFS' }));
  });

  it('have errors for missing paths, and allow mkdir -p of existing ones', () => {
    const { files } = layered();
    expect(() => files.read('/skills/pdf/none')).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    expect(() => files.read('/skills/pdf/SKILL.md/x')).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
    expect(() => files.list('/skills/pdf/SKILL.md')).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
    expect(() => files.read('/skills/pdf')).toThrow(expect.objectContaining({ code: 'EISDIR' }));
    expect(() => files.remove('/skills/pdf/none')).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    expect(files.makeDirectory('/skills/pdf', { recursive: true })).toBeUndefined();
    expect(files.stat('/skills-of-mine')).toBeNull();
    put(files, '/skills-of-mine', 'x');
    expect(files.stat('/skills-of-mine')?.kind).toBe('file');
  });

  it('can be read, listed and run by the tools, which report refused writes', async () => {
    const bench = toolBench({ files: layered().files });
    expect((await bench.run('builtin.read_file', { path: '/skills/pdf/scripts/run.sh' })).text).toContain('ran with');
    expect((await bench.run('builtin.list_directory', { path: '/skills', recursive: true })).text).toContain('pdf/scripts/run.sh');
    expect(
      (await bench.run('builtin.bash', { command: 'bash /skills/pdf/scripts/run.sh me; cat /skills/pdf/data.bin | wc -c; ls /' })).text,
    ).toMatch(/ran with me\n\s*3\n[\s\S]*skills/);
    const refused = await bench.run('builtin.bash', {
      command: 'echo x > /skills/pdf/SKILL.md; echo "after"; cp /skills/pdf/SKILL.md mine.md && wc -l mine.md',
    });
    expect(refused.text).toContain('read-only file system');
    expect((await bench.run('builtin.write_file', { path: '/skills/pdf/x', content: '' })).text).toContain('files of skills are read-only');
  });
});
