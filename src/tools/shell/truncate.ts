/** The `truncate` command, which the interpreter lacks and scripts use: cuts files or fills them with zero bytes to a given size. */
import { defineCommand } from 'just-bash/browser';
import { limits } from '../../core/limits/limits.ts';

const usage = 'usage: truncate -s [+|-]SIZE[K|M] FILE...';

export const truncate = defineCommand('truncate', async (given, { fs, cwd }) => {
  const args = [...given];
  const fail = (text: string) => ({ stdout: '', stderr: `truncate: ${text}\n`, exitCode: 1 });
  let size: Size | null = null;
  let noCreate = false;
  for (let arg = args[0]; arg?.startsWith('-') === true; arg = args[0]) {
    args.shift();
    if (arg === '--') break;
    if (arg === '-c' || arg === '--no-create') noCreate = true;
    else if (arg === '-s' || arg === '--size') size = readSize(args.shift() ?? '');
    else if (arg.startsWith('-s')) size = readSize(arg.slice(2));
    else if (arg.startsWith('--size=')) size = readSize(arg.slice('--size='.length));
    else return fail(`unknown option ${arg}; ${usage}`);
  }
  if (size === null || args.length === 0) return fail(usage);
  const faults: string[] = [];
  for (const name of args) {
    const path = fs.resolvePath(cwd, name);
    try {
      const isThere = await fs.exists(path);
      if (!isThere && noCreate) continue;
      const bytes = isThere ? await fs.readFileBuffer(path) : new Uint8Array();
      const length = Math.max(0, size.sign === 0 ? size.bytes : bytes.byteLength + size.sign * size.bytes);
      if (length > limits.maxFileBytes) throw new Error(`a file is at most ${limits.maxFileBytes} bytes`);
      const cut = new Uint8Array(length);
      cut.set(bytes.subarray(0, length));
      await fs.writeFile(path, cut);
    } catch (error) {
      faults.push(`truncate: ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
  return { stdout: '', stderr: faults.join(''), exitCode: faults.length > 0 ? 1 : 0 };
});

type Size = { sign: 0 | 1 | -1; bytes: number };

/** Returns null for an invalid size. */
function readSize(text: string): Size | null {
  const parts = /^([+-]?)(\d{1,12})([KM]?)$/.exec(text);
  if (parts === null) return null;
  const unit = parts[3] === 'K' ? 1024 : parts[3] === 'M' ? 1024 * 1024 : 1;
  return { sign: parts[1] === '+' ? 1 : parts[1] === '-' ? -1 : 0, bytes: Number(parts[2]) * unit };
}
