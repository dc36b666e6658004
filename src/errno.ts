/** What the system said, in plain words. */

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'it is there already',
  EISDIR: 'it is a folder',
  ELOOP: 'its symbolic links go in a circle',
  EMFILE: 'this process has no file descriptors left',
  ENAMETOOLONG: 'the name is too long',
  ENFILE: 'this machine has no file descriptors left',
  ENOENT: 'it is not there',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is no folder',
  EPERM: 'it is not permitted',
  EROFS: 'the file system is read-only',
};

/** The system's code, such as ENOSPC; empty where the error is another. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** An error of a system call: not a defect of ours. */
export const isSystemError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && codeOf(error) !== '';

export const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(error));

/** `the disk is full (ENOSPC)` */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  const words = WORDS[code];
  if (words !== undefined) return `${words} (${code})`;
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n')[0] ?? '';
}
