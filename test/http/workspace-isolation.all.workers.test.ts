import { Scope } from '../../src/core/principal.ts';
import { describeIsolation } from './workspace-isolation.ts';

describeIsolation(Scope.options.map((scope) => [scope]));
