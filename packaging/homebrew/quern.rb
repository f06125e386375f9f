class Quern < Formula
  desc "GPU compute in one small C library: OpenCL C kernels on any device"
  url "@URL@"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "cmake" => :build
  depends_on :linux

  # Without the command line tool, which needs the headers of stb.
  def install
    system "cmake", "-S", ".", "-B", "build", "-DQUERN_TOOL=OFF", "-DQUERN_TESTS=OFF", "-DQUERN_EXAMPLES=OFF",
                    "-DQUERN_WERROR=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    cp doc/"examples/saxpy.c", testpath
    system ENV.cc, "saxpy.c", "-I#{include}", "-L#{lib}", "-lquern", "-o", "saxpy"
    assert_equal "12 24 36 48 60 72 84 96 \n", shell_output("./saxpy")
  end
end
