import { check, loadKoffi } from './koffi.ts';

/** S-1-16-4096, low integrity, in the form of winnt.h (https://learn.microsoft.com/windows/win32/secauthz/well-known-sids). */
const LOW = Buffer.from('010100000000001000100000', 'hex');

/** From winnt.h. */
const TOKEN_ADJUST_DEFAULT = 0x80;
const INTEGRITY_LEVEL = 25;
const SE_GROUP_INTEGRITY = 0x20;

/**
 * Takes from this process, and from all that it starts, the right to write where it is not allowed to every process
 * (https://learn.microsoft.com/windows/win32/secauthz/mandatory-integrity-control). What is open stays open. Reading and the network stay as they are.
 * It cannot be undone. @throws WindowsError
 */
export function lowerIntegrity(): void {
  const koffi = loadKoffi();
  const kernel = koffi.load('kernel32.dll');
  const advapi = koffi.load('advapi32.dll');
  koffi.struct('MandatoryLabel', { sid: 'uint8_t *', attributes: 'uint32_t' });
  const current = kernel.func('void *__stdcall GetCurrentProcess()');
  const open = advapi.func('int __stdcall OpenProcessToken(void *process, uint32_t access, _Out_ void **token)');
  const set = advapi.func('int __stdcall SetTokenInformation(void *token, int kind, MandatoryLabel *label, uint32_t size)');
  const close = kernel.func('int __stdcall CloseHandle(void *handle)');
  const token: [unknown] = [null];
  check('OpenProcessToken', open(current(), TOKEN_ADJUST_DEFAULT, token), kernel);
  check('SetTokenInformation', set(token[0], INTEGRITY_LEVEL, { sid: LOW, attributes: SE_GROUP_INTEGRITY }, 16 + LOW.length), kernel);
  close(token[0]);
}
