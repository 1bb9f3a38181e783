/** `moniker deploy`: builds and uploads the Worker to Cloudflare. It needs the sources: the npm package has none. */
import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { isCheckout, projectRoot } from '../local/launch/environment.ts';
import { CommandFailure } from './failure.ts';

export function addDeployCommand(program: Command): void {
  program
    .command('deploy')
    .description('build the Worker and upload it to Cloudflare; only in a checkout of the repository')
    .argument('[options...]', 'after "--": options of `npm run deploy`, such as --dry-run')
    .addHelpText('after', '\nExample:\n  moniker deploy -- --dry-run')
    .action(deploy);
}

async function deploy(options: string[]): Promise<void> {
  if (!isCheckout)
    throw new CommandFailure(
      'This is the npm package, which runs on your own machine.',
      'To deploy to Cloudflare, clone the repository and run `npm install && npm run deploy` in it.',
    );
  const code = await new Promise<number | null>((resolve, reject) => {
    // On Windows npm is a batch file, which only a shell starts; the arguments are those of the person at the terminal.
    const child = spawn('npm', ['run', 'deploy', '--', ...options], {
      cwd: projectRoot,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    });
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new CommandFailure(`The deployment failed with exit code ${code}.`, 'The output above says why.');
}
