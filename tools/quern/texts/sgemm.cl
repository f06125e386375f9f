/* An untuned fp32 matmul, a yardstick for code quality: 128x128x16 tiles, 256 work-items, 8x8 each, double-buffered in local memory.
   M, N multiples of 128, K of 16. Global size (N/128*256, M/128), local (256, 1). */
#define KERNEL __kernel __attribute__((reqd_work_group_size(256,1,1)))
#define GLOBAL __global
#define RESTRICT restrict
#define LOCAL_ARR(n,s) __local float n[s] __attribute__((aligned(16)));
#define TID ((int)get_local_id(0))
#define GX ((int)get_group_id(0))
#define GY ((int)get_group_id(1))
#define UNROLL __attribute__((opencl_unroll_hint))
#define LD4(p) (*(__global const float4*)(p))
#define LDS4(p) (*(__local const float4*)(p))
#define ST4(p,v) vst(p,v)
#define MK4(a,b,c,d) (float4)(a,b,c,d)
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
void __attribute__((overloadable)) vst(__global float*p, float4 v){ *(__global float4*)p=v; }
void __attribute__((overloadable)) vst(__local float*p, float4 v){ *(__local float4*)p=v; }
#define BM 128
#define BN 128
#ifndef BK
#define BK 16
#endif
#define TM 8
#define TN 8
KERNEL void sgemm(int M,int N,int K, GLOBAL const float* RESTRICT A, GLOBAL const float* RESTRICT B, GLOBAL float* RESTRICT C){
  LOCAL_ARR(As,2*BK*BM) LOCAL_ARR(Bs,2*BK*BN)
  const int tid=TID; const int bx=GX, by=GY;
  const int tx=tid%16, ty=tid/16;
  /* warp tiling: 8 warps -> 2(row) x 4(col) of 64x32 */
  const int warp=tid/32, lane=tid%32; const int wr=warp/4, wc=warp%4; const int lr=lane/4, lc=lane%4;
  const int row0=wr*64+lr*4, col0=wc*32+lc*4; /* rows row0..+3 and +32..; cols col0..+3, +16.. */
  A += by*BM*K; B += bx*BN;
  float4 ra[BK/8], rb[BK/8];
  float acc[8][8];
  for(int i=0;i<8;i++) for(int j=0;j<8;j++) acc[i][j]=0.f;
  /* A tile BMxBK: each thread loads BK/8 float4; row = tid/(BK/4)+..., */
  const int ar=tid/(BK/4), ac=(tid%(BK/4))*4; const int arS=256/(BK/4);
  const int br=tid/32, bc=(tid%32)*4;
  UNROLL for(int i=0;i<BK/8;i++){ ra[i]=LD4(A+(ar+i*arS)*K+ac); rb[i]=LD4(B+(br+i*8)*N+bc); }
  UNROLL for(int i=0;i<BK/8;i++){ int r=ar+i*arS; As[(ac+0)*BM+r]=ra[i].x; As[(ac+1)*BM+r]=ra[i].y; As[(ac+2)*BM+r]=ra[i].z; As[(ac+3)*BM+r]=ra[i].w; ST4(Bs+(br+i*8)*BN+bc,rb[i]); }
  BARRIER;
  int buf=0;
  for(int k0=0;k0<K;k0+=BK){
    const bool more=k0+BK<K;
    if(more){ UNROLL for(int i=0;i<BK/8;i++){ ra[i]=LD4(A+(ar+i*arS)*K+k0+BK+ac); rb[i]=LD4(B+(k0+BK+br+i*8)*N+bc); } }
    const int ob=buf*BK*BM;
    UNROLL for(int k=0;k<BK;k++){
      float a[8],b[8]; float4 t;
      t=LDS4(As+ob+k*BM+row0); a[0]=t.x;a[1]=t.y;a[2]=t.z;a[3]=t.w; t=LDS4(As+ob+k*BM+row0+32); a[4]=t.x;a[5]=t.y;a[6]=t.z;a[7]=t.w;
      t=LDS4(Bs+ob+k*BN+col0); b[0]=t.x;b[1]=t.y;b[2]=t.z;b[3]=t.w; t=LDS4(Bs+ob+k*BN+col0+16); b[4]=t.x;b[5]=t.y;b[6]=t.z;b[7]=t.w;
      UNROLL for(int i=0;i<8;i++) UNROLL for(int j=0;j<8;j++) acc[i][j]+=a[i]*b[j];
    }
    if(more){ buf^=1; const int nb=buf*BK*BM;
      UNROLL for(int i=0;i<BK/8;i++){ int r=ar+i*arS; As[nb+(ac+0)*BM+r]=ra[i].x; As[nb+(ac+1)*BM+r]=ra[i].y; As[nb+(ac+2)*BM+r]=ra[i].z; As[nb+(ac+3)*BM+r]=ra[i].w; ST4(Bs+nb+(br+i*8)*BN+bc,rb[i]); }
      BARRIER; }
  }
  C += by*BM*N+bx*BN;
  UNROLL for(int i=0;i<8;i++){ int r=row0+(i/4)*32+(i%4); float4 v0=MK4(acc[i][0],acc[i][1],acc[i][2],acc[i][3]); float4 v1=MK4(acc[i][4],acc[i][5],acc[i][6],acc[i][7]); ST4(C+r*N+col0,v0); ST4(C+r*N+col0+16,v1); }
}
