import { createMemoryFiles } from '../../src/storage/memory-files.ts';
import { fileSystemContract } from '../contracts/file-system.ts';

fileSystemContract('memory', createMemoryFiles);
