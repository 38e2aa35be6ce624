"""Where the time of a call goes. One profiler per runtime: the module that has the runtime's name."""
