/** One service for all tests of a file or a `describe`: hooks start it and clean up; a restart keeps the data and the variable. */
import { afterAll, beforeAll } from 'vitest';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';

export type SharedService = Omit<RunningService, 'stop' | 'pid'> & {
  /** Kills the service like a power failure and starts it again over the same data, which `change` may change meanwhile; the address may change. */
  restart(change?: (dataDir: string) => void): Promise<void>;
};

/** Call it where hooks can be registered, before the hooks that use the service. `environment`: additional settings. */
export function shareService(environment: Record<string, string> = {}): SharedService {
  const dataDir = makeDataDir();
  let service: RunningService;
  beforeAll(async () => {
    service = await startService(dataDir, environment);
  });
  afterAll(async () => {
    await service.stop();
    removeDataDir(dataDir);
  });
  return {
    get url() {
      return service.url;
    },
    get key() {
      return service.key;
    },
    printed: () => service.printed(),
    call: (...request) => service.call(...request),
    restart: async (change) => {
      await service.stop('SIGKILL');
      change?.(dataDir);
      service = await startService(dataDir, environment);
    },
  };
}
