// Package witness looks for inputs that break a model: it makes inputs inside the declared ranges,
// runs the model in FP32 and as the target would run it, and keeps what each value came to.
//
// A value is a root where it overflows although everything its node reads is finite. What a run
// shows is no bound, but it is beyond doubt: the inputs exist.
package witness
