/*
 * The files of onnxruntime's CUDA provider: seven files of four wheels, which are zip archives. Names, sizes and checksums are
 * those of the published files; docs/gpu.md explains the choice and how to reproduce it.
 */

/** Must equal the version of onnxruntime-node, because the provider and the npm package share private tables. */
export const ONNXRUNTIME_VERSION = '1.30.0';

export interface CudaMember {
  /** The full name in the wheel. */
  readonly name: string;
  /** The name in our folder. */
  readonly file: string;
  readonly sizeBytes: number;
}

export interface CudaWheel {
  /** The project's name in the index, normalised by PEP 503. */
  readonly project: string;
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly members: readonly CudaMember[];
}

/** Largest first. Each wheel is removed after unpacking, so the disk must hold only one wheel in addition to the unpacked files. */
export const CUDA_WHEELS: readonly CudaWheel[] = [
  {
    project: 'nvidia-cublas',
    fileName: 'nvidia_cublas-13.0.2.14-py3-none-manylinux_2_27_x86_64.whl',
    sizeBytes: 420_882_912,
    sha256: '0cf238ffdbe46c00cb9aa98e7bca745c223a5ca5a53e686ac8b3e5a08fe80d6c',
    members: [
      member('nvidia/cu13/lib', 'libcublasLt.so.13', 539_533_072),
      member('nvidia/cu13/lib', 'libcublas.so.13', 54_440_120),
    ],
  },
  {
    project: 'onnxruntime-gpu',
    fileName: 'onnxruntime_gpu-1.30.0-cp311-cp311-manylinux_2_28_x86_64.whl',
    sizeBytes: 246_658_419,
    sha256: '4fbf0c5d7b5fb99266c2e8a802e3e64af68bdc383e0f3c7349b985f1087eedaa',
    members: [
      member('onnxruntime/capi', 'libonnxruntime_providers_cuda.so', 272_049_904),
      member('onnxruntime/capi', 'libonnxruntime_providers_shared.so', 14_632),
      // Renamed to the name that the npm package's binding loads. It was built together with the provider; npm's library was not.
      { name: 'onnxruntime/capi/libonnxruntime.so.1.30.0', file: 'libonnxruntime.so.1', sizeBytes: 29_062_976 },
    ],
  },
  {
    project: 'nvidia-curand',
    fileName: 'nvidia_curand-10.4.0.35-py3-none-manylinux_2_27_x86_64.whl',
    sizeBytes: 59_544_258,
    sha256: '1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc',
    members: [member('nvidia/cu13/lib', 'libcurand.so.10', 132_698_328)],
  },
  {
    project: 'nvidia-cuda-runtime',
    fileName: 'nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl',
    sizeBytes: 2_243_632,
    sha256: '7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548',
    members: [member('nvidia/cu13/lib', 'libcudart.so.13', 704_288)],
  },
];

function member(folder: string, file: string, sizeBytes: number): CudaMember {
  return { name: `${folder}/${file}`, file, sizeBytes };
}
