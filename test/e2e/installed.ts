/** Programs of others that tests use if they are installed. */
import { execFileSync } from 'node:child_process';

/** Returns whether the program is in PATH. */
export function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore', timeout: 20_000 });
    return true;
  } catch {
    return false;
  }
}
